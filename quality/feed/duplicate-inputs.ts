import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Term } from '../../src/feed/model/terms.ts';
import { buildComparisonTraits } from '../../src/feed/deduplication/comparison-traits.ts';
import { isProseSource, toFeedItem } from '../../src/feed/ingestion/item-document.ts';
import { extractItem } from '../../src/feed/extraction/extract-item.ts';
import { toTextRecord } from '../../src/feed/extraction/text/text-record.ts';
import type { SourceRecord } from '../../src/feed/model/source-record.ts';
import type { SourceDocument } from '../../src/feed/formats/fetch-session.ts';
import type { ItemOrigin } from '../../src/feed/ingestion/source-row.ts';
import { sourceFormats, type SourceKind } from '../../src/feed/formats/registry.ts';
import { readCampaigns } from '../prose/eset-campaigns.ts';
import { readRecordedJson, requireData, readRecordedRows } from '../recorded-inputs.ts';

/** An item with the traits that the feed compares. */
export type ComparedEntry = {
  id: string;
  key: string;
  publisher: string;
  publishedAt: number | undefined;
  sketch: string | null;
  identifying: number;
  terms: Term[];
};
export type LabelledPair = { a: string; b: string; kind: string };
type Inputs = { entries: ComparedEntry[]; pairs: LabelledPair[] };

const epoch = new Date(0);

function toEntry(id: string, kind: SourceKind | null, record: SourceRecord): ComparedEntry {
  const origin: ItemOrigin = {
    organization_id: '00000000-0000-7000-8000-000000000001' as ItemOrigin['organization_id'],
    id: null,
    kind,
    url: null,
    visibility: 'shared',
    pool_id: '',
    name: kind ?? 'texts',
    publisher: null,
    tlp: null,
    license: null,
    reliability: 0.6,
    last_success_at: null,
  };
  const stamps = {
    id,
    version: 1,
    status: 'active' as const,
    createdAt: epoch,
    addedToFeedAt: epoch,
    lastUpdated: epoch,
  };
  const item = toFeedItem(record, origin, stamps);
  const { publisher, publishTime } = item.source;
  return {
    id,
    key: record.canonicalKey,
    publisher,
    publishedAt: publishTime === undefined ? undefined : Date.parse(publishTime),
    ...buildComparisonTraits(item, {
      storedText: record.storedText,
      aliases: record.aliases,
      isProse: isProseSource(kind),
    }),
  };
}

const toTextEntry = (
  id: string,
  report: { text: string; title?: string; publisher: string; publishTime?: string | undefined },
): ComparedEntry =>
  toEntry(
    id,
    null,
    toTextRecord(extractItem(report), {
      recordId: id,
      canonicalKey: `txt:${id}`,
      publisher: report.publisher,
      publishTime: report.publishTime,
    }),
  );

function parseRecords(kind: SourceKind, parts: SourceDocument[]): SourceRecord[] {
  return sourceFormats[kind].parse(parts, { reliability: 0.6 }).records;
}

function readFolder(folder: string): SourceDocument[] {
  const path = join(requireData(), folder);
  return readdirSync(path)
    .filter((name) => /\.json(?:\.gz)?$/.test(name) && !/^(?:manifest|index)/.test(name))
    .toSorted()
    .map((name) => ({ name: `${folder}/${name}`, bytes: readFileSync(join(path, name)) }));
}

/** Reads all recorded inputs as one feed, with the pairs that describe the same story by construction. */
export async function readExactPairs(): Promise<Inputs> {
  const parts = [esetAndMisp(), osv(), stix(), kevAndNvd()];
  return { entries: parts.flatMap(({ entries }) => entries), pairs: parts.flatMap(({ pairs }) => pairs) };
}

function esetAndMisp(): Inputs {
  const campaigns = readCampaigns();
  const texts = campaigns.map(({ campaign, text }) => toTextEntry(`eset ${campaign}`, { text, publisher: 'ESET' }));
  const events = ['feed/eset/misp', 'feed/misp'].flatMap((folder) => {
    const parts = readFolder(folder);
    return parseRecords('misp', parts).map((record) => toEntry(`misp ${record.recordId}`, 'misp', record));
  });
  const pairs = campaigns
    .filter(({ mispEvents }) => mispEvents.length === 1)
    .map(({ campaign, mispEvents }) => ({
      a: `eset ${campaign}`,
      b: `misp ${mispEvents[0]!.uuid}`,
      kind: 'ESET text and its MISP event',
    }));
  return { entries: [...texts, ...events], pairs };
}

function osv(): Inputs {
  const bytes = readFileSync(join(requireData(), 'feed/osv/osv.zip'));
  const index = readRecordedJson<{ id: string; aliases: string[]; withdrawn: string | null }[]>('feed/osv/index.json');
  const live = index.filter(({ withdrawn }) => withdrawn === null);
  const records = parseRecords('osv', [{ name: 'osv.zip', bytes }]).filter(({ withdrawn }) => !withdrawn);
  const pairs = live.flatMap((one, at) =>
    live
      .slice(at + 1)
      .filter((two) => two.aliases.some((alias) => one.aliases.includes(alias)))
      .map((two) => ({ a: `osv ${one.id}`, b: `osv ${two.id}`, kind: 'OSV records that share an alias' })),
  );
  return { entries: records.map((record) => toEntry(`osv ${record.recordId}`, 'osv', record)), pairs };
}

function stix(): Inputs {
  const index = readRecordedJson<{ case: string; file: string; specVersion: string }[]>('feed/stix/index.json');
  const read20or21 = index
    // The TAXII server data is not a bundle.
    .filter(({ file }) => file.endsWith('.json.gz') && !file.includes('taxii-server'))
    .map((row) => {
      const part = { name: row.file, bytes: readFileSync(join(requireData(), 'feed/stix', row.file)) };
      return {
        ...row,
        entries: parseRecords('stix', [part]).map((record) =>
          toEntry(`stix ${row.file} ${record.recordId}`, 'stix', record),
        ),
      };
    });
  const pairs = [...Map.groupBy(read20or21, (row) => row.case).values()].flatMap((forms) =>
    forms.slice(1).flatMap((form) =>
      form.entries.flatMap((entry, at) => {
        const other = forms[0]!.entries[at];
        return other ? [{ a: other.id, b: entry.id, kind: 'one bundle in STIX 2.0 and 2.1' }] : [];
      }),
    ),
  );
  return { entries: read20or21.flatMap(({ entries }) => entries), pairs };
}

type KevRow = { cveID: string; shortDescription: string; dateAdded: string };

/** Builds NVD records from the KEV rows, to check that both formats derive the same key. */
function kevAndNvd(): Inputs {
  const bytes = gunzipSync(readFileSync(join(requireData(), 'feed/kev/kev-latest.json.gz')));
  const rows = (JSON.parse(bytes.toString('utf8')) as { vulnerabilities: KevRow[] }).vulnerabilities;
  const page = {
    vulnerabilities: rows.map(({ cveID, shortDescription, dateAdded }) => ({
      cve: {
        id: cveID,
        published: `${dateAdded}T00:00:00.000`,
        lastModified: `${dateAdded}T00:00:00.000`,
        vulnStatus: 'Analyzed',
        descriptions: [{ lang: 'en', value: shortDescription }],
      },
    })),
  };
  const kev = parseRecords('kev', [{ name: 'kev', bytes }]);
  const nvd = parseRecords('nvd', [{ name: 'nvd', bytes: Buffer.from(JSON.stringify(page)) }]);
  return {
    entries: [
      ...kev.map((record) => toEntry(`kev ${record.recordId}`, 'kev', record)),
      ...nvd.map((record) => toEntry(`nvd ${record.recordId}`, 'nvd', record)),
    ],
    pairs: rows.map(({ cveID }) => ({
      a: `kev ${cveID}`,
      b: `nvd ${cveID}`,
      kind: 'KEV rows and NVD records made from them',
    })),
  };
}

/** Reads texts that people labelled as duplicate, related or distinct. */
export async function readLabelledPairs(): Promise<Inputs> {
  const docs = readRecordedRows<{
    id: string;
    title: string;
    publisher: string | null;
    date: string | null;
    text: string;
  }>('feed/duplicates/docs.ndjson.gz');
  const { pairs } = readRecordedJson<{ pairs: { a: string; b: string; label: string }[] }>(
    'feed/duplicates/pairs.json',
  );
  const instantOf = (date: string | null): string | undefined => (date === null ? undefined : `${date}T00:00:00.000Z`);
  return {
    entries: docs.map(({ id, title, publisher, date, text }) =>
      toTextEntry(id, { text, title, publisher: publisher ?? 'unknown', publishTime: instantOf(date) }),
    ),
    pairs: pairs.map(({ a, b, label }) => ({ a, b, kind: label })),
  };
}
