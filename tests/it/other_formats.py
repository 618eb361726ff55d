"""Writes a small file of each format in docs/from-other-formats.md to the working directory."""

import astropy.io.fits
import h5py
import netCDF4
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import zarr


def netcdf():
    with netCDF4.Dataset("surface.nc", "w") as data:
        data.setncatts({"title": "A week of sea surface temperature", "institution": "A test"})
        for name, length in [("time", None), ("lat", 3), ("lon", 4), ("bounds", 2)]:
            data.createDimension(name, length)
        time = data.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "days since 2024-06-03", "calendar": "standard"})
        time[:] = np.arange(7)
        for name, length, units in [("lat", 3, "degrees_north"), ("lon", 4, "degrees_east")]:
            axis = data.createVariable(name, "f4", (name,))
            axis.units = units
            axis[:] = np.arange(length) * 0.5
        sst = data.createVariable("sst", "i2", ("time", "lat", "lon"), fill_value=-999)
        sst.setncatts({"long_name": "sea surface temperature", "units": "degree_Celsius"})
        sst.setncatts({"scale_factor": 0.01, "valid_range": np.array([-200, 4000], "i2")})
        sst.set_auto_maskandscale(False)
        sst[:] = np.arange(84).reshape(7, 3, 4)
        data.createVariable("lat_bounds", "f4", ("lat", "bounds"))[:] = 0


def store():
    group = zarr.open_group("grid.zarr", mode="w", zarr_format=2)
    group.attrs["title"] = "Heights on a grid"
    x = group.create_array("x", data=np.arange(4.0))
    x.attrs.update({"_ARRAY_DIMENSIONS": ["x"], "units": "m"})
    height = group.create_array("height", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2))
    height.attrs.update({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"})


def hdf5():
    with h5py.File("run.h5", "w") as data:
        data.attrs["title"] = "One run of a detector"
        time = data.create_dataset("run1/time", data=np.arange(5) * 0.1)
        time.attrs["units"] = "s"
        time.make_scale("time")
        counts = data.create_dataset("run1/counts", data=np.arange(20).reshape(5, 4))
        counts.attrs["long_name"] = "counts of each pixel"
        counts.dims[0].attach_scale(time)
        valid = data.create_dataset("run1/valid", data=np.arange(5) % 2 == 0)
        valid.dims[0].attach_scale(time)


def csv():
    with open("stations.csv", "w") as out:
        out.write("time [s],depth [m],temperature [degree_Celsius],station\n")
        out.write("0,5,9.5,north\n10,5,9.25,north\n20,5,,south\n")


def matlab():
    scipy.io.savemat("run.mat", {"t": np.arange(4) * 0.5, "pressure": np.arange(12.0).reshape(4, 3)})


def fits():
    image = astropy.io.fits.ImageHDU(np.arange(6, dtype="i2").reshape(2, 3), name="SCIENCE")
    image.header["BUNIT"] = ("adu", "unit of the pixels")
    image.header["EXPTIME"] = 30.5
    spectrum = astropy.io.fits.BinTableHDU.from_columns(
        [
            astropy.io.fits.Column("WAVELENGTH", "E", unit="nm", array=np.arange(3) + 500),
            astropy.io.fits.Column("FLUX", "D", unit="Jy", array=np.arange(3) / 4),
        ],
        name="SPECTRUM",
    )
    primary = astropy.io.fits.PrimaryHDU()
    primary.header["TELESCOP"] = "A test"
    astropy.io.fits.HDUList([primary, image, spectrum]).writeto("night.fits", overwrite=True)


def parquet():
    frame = pd.DataFrame({"time": np.arange(3.0), "height": np.array([1.5, 1.25, np.nan], "f4")})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [field.with_metadata({"units": units}) for field, units in zip(table.schema, ["s", "m"])]
    schema = pa.schema(fields, metadata={"title": "Waves at a buoy"})
    pq.write_table(table.cast(schema), "waves.parquet")


for write in [netcdf, store, hdf5, csv, matlab, fits, parquet]:
    write()
