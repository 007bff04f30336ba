import { queryOptions } from '@tanstack/react-query';
import { api, read } from './client.ts';

const limit = 5;

/** Detections, entities and items of the feed, incidents, hits and their entities that match words. The words are a part of a name, the beginning of an entity's name or alias, a search of the feed, a part of the headline or entity of a hit, a part of any name of its entity, or a part of the title of an incident or any name of an entity in it. */
export const foundQuery = (words: string) =>
  queryOptions({
    queryKey: ['found', words],
    queryFn: () => findRecords(words),
    staleTime: 30_000,
  });

export type FoundRecords = Awaited<ReturnType<typeof findRecords>>;

async function findRecords(words: string) {
  const [detections, entities, items, hits, hitEntities, titled, involved] = await Promise.all([
    orNone(read(api.GET('/api/detections/summaries', { params: { query: { q: words, limit } } }))),
    orNone(read(api.GET('/api/feed/entities', { params: { query: { q: words, limit } } }))),
    orNone(read(api.GET('/api/feed/items', { params: { query: { q: words, duplicates: 'hide', perPage: limit } } }))),
    orNone(read(api.GET('/api/hits', { params: { query: { q: words, limit } } }))),
    orNone(read(api.GET('/api/entities', { params: { query: { q: words, limit } } }))),
    orNone(read(api.GET('/api/incidents', { params: { query: { q: words, limit } } }))),
    orNone(read(api.GET('/api/incidents', { params: { query: { entity: words, limit } } }))),
  ]);
  const incidents = [...(titled?.incidents ?? []), ...(involved?.incidents ?? [])];
  return {
    incidents: [...new Map(incidents.map((incident) => [incident.id, incident])).values()].slice(0, limit),
    detections: detections?.detections ?? [],
    entities: entities?.entities ?? [],
    items: items?.items ?? [],
    hits: hits?.hits ?? [],
    hitEntities: hitEntities?.entities ?? [],
  };
}

/** Returns the entity of hits that has exactly this name or alias, if there is one. */
export async function findEntity(name: string) {
  const { hits } = await read(api.GET('/api/hits', { params: { query: { entity: name, limit: 1 } } }));
  return hits[0];
}

/** Returns undefined if the request fails, for example because the user may not read the list. */
const orNone = <Result>(request: Promise<Result>): Promise<Result | undefined> => request.catch(() => undefined);
