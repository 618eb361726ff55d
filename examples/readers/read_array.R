# Prints one array of a zip, or of a .ra file: Rscript read_array.R exp.zip run1/temperature.ra
# The first line has eltype, elbyte and dims. Each further line has one element; the first index is the fastest.
# Written from docs/spec/rawarray.md. R has no 64-bit integers: numbers above 2^53 are rejected.

read_bytes <- function(file, member) {
  if (is.na(member)) return(readBin(file, "raw", file.size(file)))
  size <- with(unzip(file, list = TRUE), Length[Name == member])
  connection <- unz(file, member, "rb")
  on.exit(close(connection))
  readBin(connection, "raw", size)
}

# Unsigned integers of `width` bytes each, little-endian, as doubles.
unsigned <- function(bytes, width) colSums(matrix(as.integer(bytes), width) * 256 ^ (0:(width - 1)))

# Numbers of 16-bit floats: sign, 5 bits of exponent, 10 of fraction.
half <- function(bits) {
  exponent <- bits %/% 1024 %% 32
  fraction <- bits %% 1024 / 1024
  number <- (fraction + (exponent > 0)) * 2 ^ (pmax(exponent, 1) - 15)
  number[exponent == 31] <- ifelse(fraction[exponent == 31] > 0, NaN, Inf)
  ifelse(bits >= 32768, -number, number)
}

read_array <- function(file, member = NA) {
  bytes <- read_bytes(file, member)
  stopifnot(length(bytes) >= 48, rawToChar(bytes[1:8]) == "rawarray")
  header <- unsigned(bytes[9:48], 8)
  flags <- header[1]; eltype <- header[2]; elbyte <- header[3]; size <- header[4]; ndims <- header[5]
  stopifnot(flags == 0, ndims <= 64, length(bytes) >= 48 + 8 * ndims)
  dims <- if (ndims > 0) unsigned(bytes[49:(48 + 8 * ndims)], 8) else numeric()
  stopifnot(size == elbyte * prod(dims), length(bytes) >= 48 + 8 * ndims + size)
  data <- bytes[48 + 8 * ndims + seq_len(size)]
  part <- if (eltype == 4) elbyte / 2 else elbyte
  stopifnot(eltype %in% 1:4, part %in% (if (eltype < 3) c(1, 2, 4, 8) else c(2, 4, 8)))
  values <- if (eltype < 3) unsigned(data, part) else if (part == 2) half(unsigned(data, 2))
    else readBin(data, "numeric", size / part, size = part, endian = "little")
  if (eltype == 1) values <- values - (values >= 256 ^ part / 2) * 256 ^ part
  stopifnot(eltype > 2 || all(abs(values) <= 2 ^ 53))
  if (eltype == 4) values <- complex(real = values[c(TRUE, FALSE)], imaginary = values[c(FALSE, TRUE)])
  list(eltype = eltype, elbyte = elbyte, dims = dims,
       values = if (ndims > 0) array(values, dims) else values)
}

if (!interactive()) {
  result <- read_array(commandArgs(TRUE)[1], commandArgs(TRUE)[2])
  cat(sprintf("%.0f", c(result$eltype, result$elbyte, result$dims)), fill = 10000)
  values <- as.vector(result$values)
  form <- function(values) if (result$eltype < 3) sprintf("%.0f", values) else sprintf("%.17g", values)
  lines <- if (is.complex(values)) paste(form(Re(values)), form(Im(values))) else form(values)
  if (length(lines) > 0) writeLines(lines)
}
