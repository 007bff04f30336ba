import { queryOptions } from '@tanstack/react-query';
import { api, read } from './client.ts';

export const detectionsQuery = queryOptions({
  queryKey: ['detections', 'list'],
  queryFn: async () => (await read(api.GET('/api/detections'))).detections,
});

export type Detection = Awaited<ReturnType<NonNullable<typeof detectionsQuery.queryFn>>>[number];
