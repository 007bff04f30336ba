import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type IndicatorLookup = Schemas['IndicatorLookup'];

/** How many values one look-up accepts. */
export const lookupMax = 100;

/** The indicators of the feed for several values. */
export const lookupQuery = (values: readonly string[]) =>
  queryOptions({
    queryKey: ['indicators', 'lookup', values],
    queryFn: () => read(api.POST('/api/indicators/lookup', { body: { values: [...values] } })),
    enabled: values.length > 0,
  });

/** Everything that the feed knows of one value. */
export const indicatorQuery = (value: string) =>
  queryOptions({
    queryKey: ['indicators', 'one', value],
    queryFn: () => read(api.GET('/api/indicators', { params: { query: { value } } })),
  });
