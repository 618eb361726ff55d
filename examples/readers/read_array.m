% Prints one array of a zip, or of a .ra file: octave-cli read_array.m exp.zip run1/temperature.ra
% The first line has eltype, elbyte and dims. Each further line has one element; the first index is the fastest.
% Written from docs/spec/rawarray.md, for Octave and MATLAB. In a program, call read_ra(FILE).
1;

% Numbers of 16-bit floats: sign, 5 bits of exponent, 10 of fraction.
function number = half(bits)
  exponent = mod(floor(bits / 1024), 32);
  fraction = mod(bits, 1024) / 1024;
  number = (1 - 2 * (bits >= 32768)) .* (fraction + (exponent > 0)) .* 2 .^ (max(exponent, 1) - 15);
  number(exponent == 31) = number(exponent == 31) * Inf;
  number(exponent == 31 & fraction > 0) = NaN;
end

function [values, eltype, elbyte, dims] = read_ra(file)
  stream = fopen(file, "r", "ieee-le");
  assert(stream >= 0, "the file cannot be read");
  assert(isequal(fread(stream, 8, "uint8=>char")', "rawarray"), "not an array");
  header = fread(stream, 5, "uint64=>uint64");
  assert(numel(header) == 5, "the header is cut off");
  flags = header(1); eltype = header(2); elbyte = header(3); bytes = header(4); ndims = header(5);
  assert(flags == 0 && ndims <= 64, "big-endian or encoded data, or too many dimensions");
  dims = fread(stream, double(ndims), "uint64=>uint64")';
  assert(numel(dims) == ndims, "the header is cut off");
  kinds = {"int", "uint", "float", "float"};
  assert(any(eltype == 1:4), "the element type is not supported");
  part = double(elbyte) / (1 + (eltype == 4));
  allowed = {[1 2 4 8], [1 2 4 8], [2 4 8], [2 4 8]};
  assert(any(part == allowed{eltype}), "the element type is not supported");
  kind = sprintf("%s%d", kinds{eltype}, 8 * part);
  is_half = eltype > 2 && part == 2;
  if is_half, kind = "uint16"; end
  count = prod(double(dims)) * (1 + (eltype == 4));
  assert(double(bytes) == count * part, "the size is wrong");
  values = fread(stream, count, [kind "=>" kind]);
  assert(numel(values) == count, "the data is cut off");
  fclose(stream);
  if is_half, values = half(double(values)); end
  if eltype == 4
    values = complex(values(1:2:end), values(2:2:end));
  end
  values = reshape(values, [double(dims) 1 1]);
end

arguments = argv();
file = arguments{1};
if numel(arguments) == 2
  directory = tempname();
  unzip(file, directory);
  file = fullfile(directory, arguments{2});
end
[values, eltype, elbyte, dims] = read_ra(file);
printf("%s\n", strjoin(arrayfun(@(n) sprintf("%d", n), [eltype elbyte dims], "UniformOutput", false), " "));
if eltype == 4
  values = [real(values(:)) imag(values(:))]';
end
forms = {"%d\n", "%u\n", "%.17g\n", "%.17g %.17g\n"};
if ! isempty(values)
  printf(forms{eltype}, values);
end
