import { queryOptions } from '@tanstack/react-query';
import { basePath } from '../lib/base-path.ts';
import { api, read, type Schemas } from './client.ts';

export type Coverage = Schemas['Coverage'];
export type CoveredTechnique = Coverage['techniques'][number];

/** The ATT&CK techniques with the detections that watch them and the threats of the last days. */
export const coverageQuery = (days: string | undefined) =>
  queryOptions({
    queryKey: ['coverage', days],
    queryFn: () => read(api.GET('/api/coverage', { params: { query: { ...(days && { days: Number(days) }) } } })),
    staleTime: 60_000,
  });

export type RehearsalRun = Schemas['RehearsalRun'];

/** Rehearses a technique with its sub-techniques, or the techniques and indicators of an item. */
export const rehearse = (body: { technique: string } | { itemId: string }): Promise<RehearsalRun> =>
  read(api.POST('/api/rehearsals', { body }));

/** Where the layer for the ATT&CK Navigator is downloaded from. */
export const navigatorAddress = (days: string | undefined): string =>
  `${basePath}/api/coverage/navigator${days === undefined ? '' : `?days=${days}`}`;
