import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';
import { inOrg, queryRow } from '../../src/platform/db/db.ts';
import type { PullResult } from '../../src/feed/ingestion/pull-plan.ts';
import { readZip } from '../../src/platform/lib/storage/zip.ts';
import { readRecordedJson, requireData } from '../recorded-inputs.ts';
import { formatPullResult, withFeedEnvironment, type FeedEnvironment } from './feed-environment.ts';
import { replayKev } from './kev-replay.ts';
import type { QualityFigure } from '../figures.ts';

type Files = Record<string, Buffer>;
type ExpectedCounts = Partial<Record<'added' | 'corrected' | 'retracted' | 'unchanged', number>>;

/** Replays corrections and retractions of the recorded sources through the whole pipeline and the database. */
export async function measureCorrections(): Promise<QualityFigure[]> {
  return withFeedEnvironment(async (place) => [
    ...(await replayKev(place)),
    ...(await replayCsaf(place)),
    ...(await replayOsv(place)),
  ]);
}

/** Pulls each advisory with several revisions first without its last revision, then as published. */
async function replayCsaf(place: FeedEnvironment): Promise<QualityFigure[]> {
  const folder = join(requireData(), 'feed/csaf');
  const published: Files = {};
  const before: Files = {};
  let revised = 0;
  for (const name of readdirSync(folder).filter((name) => name !== 'index.json')) {
    const document = JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString('utf8')) as Advisory;
    published[name.replace('.gz', '')] = Buffer.from(JSON.stringify(document));
    const { tracking } = document.document;
    const history = tracking.revision_history.toSorted((a, b) => (a.date < b.date ? -1 : 1));
    if (history.length > 1) {
      revised += 1;
      const last = history.at(-2)!;
      tracking.revision_history = history.slice(0, -1);
      tracking.version = last.number;
      tracking.current_release_date = last.date;
    }
    before[name.replace('.gz', '')] = Buffer.from(JSON.stringify(document));
  }
  const all = Object.keys(published).length;
  const pull = await place.createSource('csaf');
  return createStepFigures('feed/csaf', [
    ['without the last revisions', await pull(before), { added: all }],
    ['as published', await pull(published), { added: 0, corrected: revised, retracted: 0, unchanged: all - revised }],
    ['repeated', await pull(published), { added: 0, corrected: 0, retracted: 0, unchanged: all }],
    ['older versions repeated', await pull(before), { added: 0, corrected: 0, retracted: 0, unchanged: all }],
  ]);
}

type Advisory = {
  document: {
    tracking: {
      version: string;
      current_release_date: string;
      revision_history: { date: string; number: string }[];
    };
  };
};

/** Pulls records first without their withdrawal and with older times and details, then as published. */
async function replayOsv(place: FeedEnvironment): Promise<QualityFigure[]> {
  const archive = readFileSync(join(requireData(), 'feed/osv/osv.zip'));
  const bounds = { entriesMax: 1_000, entryMaxBytes: 1e7, totalMaxBytes: 1e8 };
  const entries = readZip(archive, (name) => name.endsWith('.yaml'), bounds);
  const withdrawn = readRecordedJson<{ withdrawn: string | null }[]>('feed/osv/index.json').filter(
    (row) => row.withdrawn,
  ).length;
  const published: Files = {};
  const before: Files = {};
  for (const { name, bytes } of entries) {
    const record = parse(bytes.toString('utf8'), { schema: 'failsafe' }) as Record<string, unknown>;
    published[name] = bytes;
    const { withdrawn: _, ...standing } = record;
    const earlier = {
      ...standing,
      modified: record['published'] ?? record['modified'],
      details: `${String(record['details'])} Under analysis.`,
    };
    before[name] = Buffer.from(stringify(earlier));
  }
  const all = entries.length;
  const whole = await place.createSource('osv');
  const first = await whole({ 'osv.zip': archive });
  const tombstones = await countTombstones(place);
  const pull = await place.createSource('osv');
  return [
    {
      name: 'feed/osv, withdrawn records are tombstones',
      measured: `${tombstones} of ${withdrawn} (${formatPullResult(first)})`,
      target: String(withdrawn),
      isMet: tombstones === withdrawn && first.added === all,
    },
    ...createStepFigures('feed/osv', [
      ['without the last change', await pull(before), { added: all }],
      [
        'as published',
        await pull(published),
        { added: 0, corrected: all - withdrawn, retracted: withdrawn, unchanged: 0 },
      ],
      ['repeated', await pull(published), { added: 0, corrected: 0, retracted: 0, unchanged: all }],
      ['older versions repeated', await pull(before), { added: 0, corrected: 0, retracted: 0, unchanged: all }],
    ]),
  ];
}

async function countTombstones({ deps, orgId }: FeedEnvironment): Promise<number> {
  const found = await inOrg(
    deps.db,
    orgId,
    (tx) =>
      queryRow<{ n: number }>(tx)`select count(*) as n from items where status = 'retracted' and source_name = 'osv'`,
  );
  return found?.n ?? 0;
}

function createStepFigures(name: string, steps: [string, PullResult, ExpectedCounts][]): QualityFigure[] {
  return steps.map(([step, result, wanted]) => ({
    name: `${name}, ${step}`,
    measured: formatPullResult(result),
    target: Object.entries(wanted)
      .map(([part, count]) => `${count} ${part}`)
      .join(', '),
    isMet:
      !result.error && Object.entries(wanted).every(([part, count]) => result[part as keyof ExpectedCounts] === count),
  }));
}
