import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import { readProgress } from './progress-stream.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch } from './versions.ts';

export type RuleSource = Schemas['RuleSource'];
export type RuleUpdate = Schemas['RuleUpdate'];
export type RuleChange = Schemas['RuleChange'];
export type AppliedUpdate = Schemas['AppliedRuleUpdate'];
export type NewRuleSource = NonNullable<
  paths['/api/rule-sources']['post']['requestBody']
>['content']['application/json'];
export type RuleSourceChange = NonNullable<
  paths['/api/rule-sources/{id}']['put']['requestBody']
>['content']['application/json'];
/** `rulesDone` of `rulesTotal`, which is unknown while the rules are converted. */
export type ImportProgress = { phase: 'converting' | 'storing'; rulesDone: number; rulesTotal: number | null };

const waitingMs = 1_000;

/** Whether the first check of a source, or one that somebody asked for, is still to come. */
export const isWaiting = ({ enabled, checkedAt }: RuleSource): boolean => enabled && checkedAt === null;

/** The sources, and the packages that can be added by name. Read again until the first check of each is done. */
export const ruleSourcesQuery = queryOptions({
  queryKey: ['rule-sources', 'list'],
  queryFn: () => read(api.GET('/api/rule-sources')),
  refetchInterval: ({ state }) => (state.data?.ruleSources.some(isWaiting) === true ? waitingMs : false),
});

/** What the newest version of a source would change, by its version and settings. */
export const ruleUpdateQuery = ({ id, available, version, minLevel, statuses }: RuleSource) =>
  queryOptions({
    queryKey: ['rule-sources', 'update', id, available, version, minLevel, statuses],
    queryFn: ({ signal }) => read(api.GET('/api/rule-sources/{id}/update', { params: { path: { id } }, signal })),
    enabled: available !== null,
    staleTime: 300_000,
  });

export const createRuleSource = (body: NewRuleSource) => read(api.POST('/api/rule-sources', { body }));

export const changeRuleSource = (source: RuleSource, body: RuleSourceChange) =>
  sendIfMatch(source, (header) =>
    read(api.PUT('/api/rule-sources/{id}', { params: { path: { id: source.id }, header }, body })),
  );

export const deleteRuleSource = (source: RuleSource) =>
  sendIfMatch(source, (header) =>
    read(api.DELETE('/api/rule-sources/{id}', { params: { path: { id: source.id }, header } })),
  );

const getRuleSource = (id: string) => read(api.GET('/api/rule-sources/{id}', { params: { path: { id } } }));

const checkSecondsMax = 60;

/** Has the address of a source checked, and returns the source after the check, or after a minute. */
export async function checkRuleSource(id: string): Promise<RuleSource> {
  const before = await read(api.POST('/api/rule-sources/{id}/check', { params: { path: { id } } }));
  let source = before;
  for (let seconds = 0; source.checkedAt === before.checkedAt && seconds < checkSecondsMax; seconds++) {
    await new Promise((resolve) => setTimeout(resolve, waitingMs));
    source = await getRuleSource(id);
  }
  return source;
}

/** Imports the rules of a version, which reports its progress. The import goes on if the page is closed. */
export async function applyRuleUpdate(
  id: string,
  body: { version: string; removeMissing: boolean },
  onProgress: (progress: ImportProgress) => void,
): Promise<AppliedUpdate> {
  const request = { params: { path: { id } }, body, headers: { accept: 'text/event-stream' } };
  const stream = await read(api.POST('/api/rule-sources/{id}/update', { ...request, parseAs: 'stream' }));
  return readProgress<ImportProgress, AppliedUpdate>(stream!, onProgress);
}
