import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { PullResult } from '../../src/feed/ingestion/pull-plan.ts';
import { readRecordedJson, requireData } from '../recorded-inputs.ts';
import { formatPullResult, type FeedEnvironment } from './feed-environment.ts';
import type { QualityFigure } from '../figures.ts';

type Step = { file: string; initial?: boolean; count: number; added: string[]; changed: unknown[] };
type Catalog = { catalogVersion: string; dateReleased: string; count: number; vulnerabilities: { cveID: string }[] };
const nothing = '0 added, 0 corrected, 0 retracted';

/** Replays the recorded versions of the catalog in order, then valid and invalid modifications of the last one. */
export async function replayKev(place: FeedEnvironment): Promise<QualityFigure[]> {
  const { steps } = readRecordedJson<{ steps: Step[] }>('feed/kev/truth.json');
  const read = (file: string): Buffer => gunzipSync(readFileSync(join(requireData(), 'feed/kev', file)));
  const source = await place.createSource('kev');
  const pull = (bytes: Buffer): Promise<PullResult> => source({ 'kev.json': bytes });
  let exact = 0;
  const total = { added: 0, corrected: 0 };
  for (const step of steps) {
    const result = await pull(read(step.file));
    const added = step.initial ? step.count : step.added.length;
    total.added += step.initial ? 0 : result.added;
    total.corrected += result.corrected;
    const isExact = result.added === added && result.corrected === step.changed.length && result.retracted === 0;
    if (isExact && !result.error && result.skipped.length === 0) exact += 1;
  }
  const second = await pull(read(steps.at(-1)!.file));
  return [
    {
      name: 'feed/kev, versions whose added and corrected items match truth.json',
      measured: `${exact} of ${steps.length} (${total.added} added, ${total.corrected} corrected)`,
      target: String(steps.length),
      isMet: exact === steps.length,
    },
    createPullFigure('feed/kev, last version repeated', second, nothing),
    ...(await replayModifiedVersions(JSON.parse(read(steps.at(-1)!.file).toString('utf8')) as Catalog, pull)),
  ];
}

async function replayModifiedVersions(
  last: Catalog,
  pull: (bytes: Buffer) => Promise<PullResult>,
): Promise<QualityFigure[]> {
  let day = 0;
  const release = (rows: Catalog['vulnerabilities'], more: Partial<Catalog> = {}): Buffer => {
    day += 1;
    const dateReleased = new Date(Date.parse(last.dateReleased) + day * 86_400_000).toISOString();
    return Buffer.from(JSON.stringify({ ...last, dateReleased, count: rows.length, vulnerabilities: rows, ...more }));
  };
  const all = last.vulnerabilities;
  const without = all.slice(1);
  const removed = [await pull(release(without)), await pull(release(without))];
  const back = await pull(release(all));
  const good = release(all);
  const bad: [string, Buffer][] = [
    ['truncated', good.subarray(0, good.length - 200)],
    ['empty', release([])],
    ['stale', release(all, { dateReleased: '2020-01-01T00:00:00.000Z' })],
    ['halved', release(all.slice(0, all.length / 2))],
    ['list shortened with the original count', release(without, { count: all.length })],
  ];
  const figures = [
    createPullFigure('feed/kev, row removed, first valid pull', removed[0]!, nothing),
    createPullFigure('feed/kev, row removed, second valid pull', removed[1]!, '0 added, 0 corrected, 1 retracted'),
    createPullFigure('feed/kev, row restored as a new item', back, '1 added, 0 corrected, 0 retracted'),
  ];
  for (const [name, bytes] of bad) {
    const results = [await pull(bytes), await pull(bytes)];
    const isBad = results.every(
      (result) => result.error !== undefined && result.added + result.corrected + result.retracted === 0,
    );
    figures.push({
      name: `feed/kev, ${name}, pulled twice`,
      measured: isBad ? 'refused, nothing changed' : 'accepted',
      target: 'refused',
      isMet: isBad,
    });
  }
  figures.push(createPullFigure('feed/kev, valid version afterwards', await pull(release(all)), nothing));
  return figures;
}

const createPullFigure = (what: string, result: PullResult, target: string): QualityFigure => ({
  name: what,
  measured: formatPullResult(result),
  target,
  isMet: formatPullResult(result).startsWith(target),
});
