import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fieldError } from '../../platform/lib/errors.ts';
import { normalizeCron, parseCron, nextSlot } from '../../platform/lib/time/cron.ts';
import { isBelowAny } from './documents/fetch-documents.ts';
import type { SourceRow } from '../ingestion/source-row.ts';
import type { SourceSightings } from './sources.schema.ts';
import { sourceFormats } from '../formats/registry.ts';

/** Validates an address. A trusted caller (the command line) may use any file. Returns whether the source may read files in any directory. */
export async function validateUrl(
  url: string,
  options: { isTrusted: boolean; fileSources: string[] },
): Promise<boolean> {
  const invalid = (detail: string) => fieldError('/url', 'invalid_url', detail);
  if (!URL.canParse(url)) throw invalid('`url` must be an absolute address.');
  const { protocol, username, password } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') {
    if (username || password) throw invalid('`url` must not contain a user name or password. Use `auth`.');
    return false;
  }
  if (protocol !== 'file:') throw invalid('`url` must begin with https://, http:// or file:.');
  if (options.isTrusted) return true;
  let path: string | undefined;
  try {
    path = await realpath(fileURLToPath(url));
  } catch {
    // The response must not reveal whether a file exists.
  }
  if (path === undefined || !(await isBelowAny(path, options.fileSources)))
    throw invalid('`url`: the file must be in a directory of TOCSIN_FILE_SOURCES.');
  return false;
}

/** Throws a 400 if sightings cannot be sent, or would be sent with the credential of another host. */
export function checkSightings(
  { kind, visibility, url }: Pick<SourceRow, 'kind' | 'visibility' | 'url'>,
  sightings: SourceSightings | null | undefined,
): void {
  if (!sightings) return;
  const target = sourceFormats[kind].sightings;
  if (!target)
    throw fieldError('/sightings', 'not_supported', `Sources of the kind \`${kind}\` do not accept sightings.`);
  // Several organizations would share the credential, and appear as one.
  if (visibility === 'shared')
    throw fieldError('/sightings', 'shared', '`sightings` is only valid for a private source.');
  if (!target.urlPattern.test(sightings.url) || !URL.canParse(sightings.url))
    throw fieldError('/sightings/url', 'invalid_url', `\`sightings.url\` has another form. ${target.urlHint}`);
  if (new URL(sightings.url).origin !== new URL(url).origin)
    throw fieldError('/sightings/url', 'other_host', '`sightings.url` must be at the host of `url`.');
}

/** Returns a schedule in its normalized form. Throws a 400 if it is not valid. */
export function normalizeSchedule(text: string): string {
  try {
    parseCron(text);
  } catch (error) {
    throw fieldError('/schedule', 'invalid_cron', error instanceof Error ? error.message : String(error));
  }
  return normalizeCron(text);
}

const backOffMs = 5 * 60_000;
const backOffMaxMs = 24 * 3_600_000;
const continueMs = 60_000;

export const effectiveSchedule = (source: Pick<SourceRow, 'schedule' | 'kind'>): string =>
  source.schedule ?? sourceFormats[source.kind].defaults.schedule;

/** Returns the time of the next pull. If the limits of this pull left records unread, it does not wait for the next slot. */
export function nextPullAfterSuccess(
  source: SourceRow,
  now: Date,
  { isScheduled, hasMore, retryAfterMs }: { isScheduled: boolean; hasMore: boolean; retryAfterMs: number | undefined },
): Date | null {
  const next = nextPull(source, now, { isScheduled, failures: 0, retryAfterMs });
  return next && hasMore ? new Date(Math.min(next.getTime(), now.getTime() + continueMs)) : next;
}

/**
 * Returns the time of the next pull, or null if the source is disabled. A manual pull does not move the next slot. After failures the source
 * is not pulled for an increasing time, or for as long as its server requests, up to a day.
 */
export function nextPull(
  source: SourceRow,
  now: Date,
  pull: { isScheduled: boolean; failures: number; retryAfterMs: number | undefined },
): Date | null {
  const { isScheduled, failures, retryAfterMs = 0 } = pull;
  if (!source.enabled) return null;
  if (!isScheduled) return source.next_pull_at;
  const backOff = failures === 0 ? 0 : backOffMs * 2 ** (failures - 1);
  const rest = Math.min(backOffMaxMs, Math.max(backOff, retryAfterMs));
  return nextSlot(parseCron(effectiveSchedule(source)), new Date(now.getTime() + rest));
}
