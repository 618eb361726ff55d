"""Checks metadata for repositories with the validators that others wrote.

    check.py ro-crate DIRECTORY... | datacite FILE... | croissant FILE...

Prints each problem on one line, and exits with 1 if there is any. Nothing is requested from the network: the context of
an RO-Crate is the one that the package `rocrate` contains.
"""

import json
import pathlib
import sys


def ro_crate(path):
    import requests
    import rocrate
    from rocrate_validator import services
    from rocrate_validator.models import Severity
    from rocrate_validator.utils.http import HttpRequester

    def answer(_, url, **options):
        response = requests.Response()
        response.url, response.status_code = url, 504
        if url == "https://w3id.org/ro/crate/1.2/context":
            context = pathlib.Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
            response.status_code, response._content = 200, context.read_bytes()
            response.headers["Content-Type"] = "application/ld+json"
        return response

    HttpRequester.get = HttpRequester.fetch_fresh = answer
    settings = services.ValidationSettings(
        rocrate_uri=path,
        profile_identifier="ro-crate-1.2",
        requirement_severity=Severity.REQUIRED,
        packaging_mode="attached",
        no_cache=True,
    )
    for issue in services.validate(settings).get_issues():
        yield f"{issue.severity.name} {issue.check.identifier}: {issue.message} ({issue.violatingEntity})"


def datacite(path):
    from datacite import schema45

    for error in schema45.validator.iter_errors(json.loads(pathlib.Path(path).read_text())):
        yield f"{error.json_path}: {error.message}"


def croissant(path):
    import mlcroissant

    issues = mlcroissant.Dataset(path).metadata.ctx.issues
    yield from sorted(issues.errors | issues.warnings)


def problems(kind, path):
    try:
        yield from {"ro-crate": ro_crate, "datacite": datacite, "croissant": croissant}[kind](path)
    except Exception as error:
        yield f"{type(error).__name__}: {error}"


found = [f"{path}: {problem}" for path in sys.argv[2:] for problem in problems(sys.argv[1], path)]
print("\n".join(found))
sys.exit(bool(found))
