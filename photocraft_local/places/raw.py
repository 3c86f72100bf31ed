"""What the gazetteer's sources say, one row as one object, whichever package it came from.

Knows neither the packages nor the compact file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawCity:
    number: int  # GeoNames' own
    name: str
    latitude: float
    longitude: float
    country_code: str
    region_code: str  # GeoNames, e.g. "IT.16"
    population: int
    zone: str
    known: tuple[str, ...]  # names as good as the main one
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawRegion:
    code: str  # GeoNames, e.g. "IT.16"
    name: str
    known: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawCountry:
    code: str
    name: str
    population: int
    continent: str  # "EU", "AS" …
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawCounty:
    region_code: str  # GeoNames, e.g. "IT.16"
    known: tuple[str, ...]  # the first is shown; those that a town of it bears are left out
    towns: tuple[int, ...]  # GeoNames numbers


@dataclass(frozen=True, slots=True)
class RawGroup:
    """Several countries: a continent, Scandinavia."""

    name: str
    countries: frozenset[str]  # ISO codes
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawSpot:
    name: str
    latitude: float
    longitude: float
    radius_km: float
    weight: int  # what stands in for people when it is ranked among cities
    country_code: str  # "" where it lies in several
    known: tuple[str, ...]
