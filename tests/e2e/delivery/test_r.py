"""A main file in R of this machine, and files that R reads in driver and executors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.registry import Registry

sys.path.insert(0, str(Path(__file__).parent))

from project import Project

pytestmark = [pytest.mark.own_cluster, pytest.mark.full]
OLD, NEW = TESTED_VERSIONS

MAIN = """
# Calls of the JVM by the protocol of Spark's R backend, in base R: PyPI's Spark has no package SparkR.
backend <- socketConnection("localhost", as.integer(Sys.getenv("EXISTING_SPARKR_BACKEND_PORT")),
  blocking = TRUE, open = "a+b", timeout = 600
)
int <- function(value) writeBin(as.integer(value), raw(), endian = "big")
text <- function(value) c(int(nchar(value, "bytes") + 1), charToRaw(value), as.raw(0))
read_int <- function() readBin(backend, integer(), endian = "big")
read_text <- function() rawToChar(readBin(backend, raw(), read_int()))
read_kind <- function() rawToChar(readBin(backend, raw(), 1))
read_value <- function(kind = read_kind()) {
  switch(kind,
    i = read_int(),
    c = read_text(),
    j = structure(read_text(), class = "object"),
    a = {
      kind <- read_kind()
      vapply(seq_len(read_int()), function(number) read_value(kind), "")
    },
    l = vapply(seq_len(read_int()), function(number) read_value(), ""),
    n = NULL,
    stop("the backend sends ", kind)
  )
}
argument <- function(value) {
  if (inherits(value, "object")) {
    c(charToRaw("j"), text(value))
  } else if (is.character(value)) {
    c(charToRaw("c"), text(value))
  } else {
    c(charToRaw("i"), int(value))
  }
}
send <- function(static, target, name, ...) {
  given <- list(...)
  bytes <- c(int(static), text(target), text(name), int(length(given)), unlist(lapply(given, argument)))
  writeBin(c(int(length(bytes)), bytes), backend)
  status <- read_int()
  while (status == 1) status <- read_int() # the JVM is still at it
  if (status != 0) stop(read_text())
  read_value()
}
static <- function(class, name, ...) send(TRUE, class, name, ...)
call <- function(object, name, ...) send(FALSE, object, name, ...)

writeBin(text(Sys.getenv("SPARKR_BACKEND_AUTH_SECRET")), backend)
stopifnot(read_text() == "ok")

session <- call(static("org.apache.spark.sql.SparkSession", "builder"), "getOrCreate")
numbers <- static("org.apache.spark.SparkFiles", "get", "numbers.csv")
cat(paste("driver", commandArgs(trailingOnly = TRUE), readLines(numbers)), sep = "\\n")
rows <- call(call(session, "range", 0L, 4L, 1L, 4L), "rdd")
cat(sort(call(call(rows, "pipe", "Rscript part.R"), "collect")), sep = "\\n")
call(session, "stop")
"""
PART = """
number <- as.integer(readLines("numbers.csv"))
inner <- readLines("data/inner.txt")
cat(sprintf("executor %s %d", inner, number * as.integer(readLines(file("stdin")))), sep = "\\n")
"""


@pytest.mark.parametrize(("version", "mount"), [(OLD, "fetch"), (NEW, "image")])
def test_an_r_script_runs_from_this_machine(
    version: str, mount: str, tmp_path: Path, registry: Registry, cluster: Cluster, restricted: str
) -> None:
    """R runs the main file in the driver; executors run R on files in their working directory."""
    project = Project(tmp_path / "project", registry, cluster, restricted)
    project.change("jobs/etl.R", MAIN)
    project.change("jobs/part.R", PART)
    project.write(
        version,
        mount,
        type="R",
        image=cluster.load_r(version),
        mainApplicationFile="./jobs/etl.R",
        arguments=["given"],
        deps={"files": ["./conf/numbers.csv", "./jobs/part.R"], "archives": ["./data.zip#data"]},
    )
    project.push()
    application = project.deploy()
    assert application.wait() == "Complete", application.story()
    told = project.told(application)
    assert told == ["driver given 42", *(f"executor inner {number}" for number in (0, 126, 42, 84))]
