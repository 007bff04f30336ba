import { expect, test } from 'vitest';
import { findPlace, measureLeastDistance, namePlace } from './places.ts';

test.each([
  [{ country: 'SE' }, 'SE'],
  [{ country: 'se' }, 'SE'],
  [{ country_code: 'SWE' }, 'SE'],
  [{ countryName: 'Sweden' }, 'SE'],
  [{ country: 'UK' }, 'GB'],
  [{ source: { geo: { country_iso_code: 'DE', location: { lat: 52.52, lon: 13.4 } } } }, '52.5,13.4'],
  [{ location: { countryOrRegion: 'US', geoCoordinates: { latitude: 0, longitude: 0 } } }, 'US'],
  [{ destination: { geo: { country_iso_code: 'DE' } } }, undefined],
  [{ country: 'XX' }, undefined],
  [{ country: '-' }, undefined],
  [{ lat: 91, lon: 0 }, undefined],
])('%j is in %s', (row, place) => {
  expect(findPlace(row)).toBe(place);
});

test('the least distance is that of the borders, and 0 between neighbors', () => {
  for (const [one, other] of [
    ['SE', 'NO'],
    ['PT', 'ES'],
    ['RU', 'FI'],
    ['US', 'CA'],
    ['FR', 'FR'],
  ] as const)
    expect(measureLeastDistance(one, other)).toBe(0);
  // Berlin and Lagos are 5,200 km apart, minus the precision of coordinates. The nearest places of the two countries about 3,700 km.
  expect(measureLeastDistance('52.5,13.4', '6.5,3.4')).toBeCloseTo(5_100, -2);
  const least = measureLeastDistance('DE', 'NG');
  expect(least).toBe(measureLeastDistance('NG', 'DE'));
  expect(least).toBeGreaterThan(3_000);
  expect(least).toBeLessThan(3_800);
});

test('names a country, and coordinates as they are', () => {
  expect([namePlace('SE'), namePlace('52.5,13.4')]).toEqual(['Sweden', '52.5,13.4']);
});
