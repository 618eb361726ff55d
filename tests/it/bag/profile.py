"""Prints the rules of BagIt profiles that bags break, as the validator `bagit_profile` sees them.

Standard input is a JSON list of objects: `profile`, `directory` of the bag, and `target`, the bag in its container.
"""

import json
import logging
import sys

import bagit
import bagit_profile

#: The functions of the validator, by the rules that they check.
RULES = {
    "Bag-Info": "validate_bag_info",
    "Manifests-Required": "validate_manifests_required",
    "Tag-Manifests-Required": "validate_tag_manifests_required",
    "Manifests-Allowed": "validate_payload_manifests_allowed",
    "Tag-Manifests-Allowed": "validate_tag_manifests_allowed",
    "Tag-Files-Required": "validate_tag_files_required",
    "Tag-Files-Allowed": "validate_tag_files_allowed",
    "Allow-Fetch.txt": "validate_allow_fetch",
    "Accept-BagIt-Version": "validate_accept_bagit_version",
}
#: The versions of the specification from which the validator applies a rule.
SINCE = {"Tag-Files-Allowed": (1, 2, 0), "Manifests-Allowed": (1, 3, 0), "Tag-Manifests-Allowed": (1, 3, 0)}


def is_broken(check, argument):
    # A check without a problem returns true or nothing.
    try:
        return check(argument) is False
    except bagit_profile.ProfileValidationError:
        return True


def rules(case):
    profile = case["profile"]
    identifier = profile["BagIt-Profile-Info"]["BagIt-Profile-Identifier"]
    try:
        profile = bagit_profile.Profile(identifier, profile=profile)
    except bagit_profile.ProfileValidationError:
        return ["profile"]
    bag = bagit.Bag(case["directory"])
    applied = {rule: name for rule, name in RULES.items() if SINCE.get(rule, (0,)) <= profile.profile_version_info}
    found = [rule for rule, name in applied.items() if is_broken(getattr(profile, name), bag)]
    if is_broken(profile.validate_serialization, case["target"]):
        found.append("Serialization")
    return sorted(found)


logging.disable()
print(json.dumps([rules(case) for case in json.load(sys.stdin)]))
