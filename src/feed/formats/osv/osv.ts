import { createProductCollector } from '../../extraction/products/product-platforms.ts';
import { createClassificationBuilder } from '../../extraction/classification-builder.ts';
import { checkCvssScore, scoreCvssVector, selectCvssScore } from '../../extraction/cvss.ts';
import {
  asObject,
  asObjects,
  asText,
  asTexts,
  isObject,
  type JsonObject,
  ownValue,
} from '../../../platform/lib/json/json-values.ts';
import { firstSentences } from '../../extraction/text/sentence-spans.ts';
import { judgeSeverity, type SeverityRating } from '../../extraction/severity/judge-severity.ts';
import { parseJsonOrYaml } from '../../../platform/lib/json/yaml.ts';
import { parseInstant, type SourceRecord } from '../../model/source-record.ts';
import type { DraftResult, ParseContext, RecordDraft, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../fetch-session.ts';
import { createStatementCollector } from '../../extraction/indicator-statements.ts';
import { stateMaliciousPackages, convertForeignRecord } from './foreign-records.ts';
import { fetchOsv, osvIdPattern } from './fetch-osv.ts';
import { draftParts, toParse, unzipPart } from '../read-parts.ts';
import { clip, cvePattern, cwePattern, isWebLink, storeFields, toVulnerabilityFields } from '../record-fields.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const fileNames = /\.(?:json|ya?ml)(?:\.gz)?$/i;
const zipBounds = { entriesMax: 100_000, entryMaxBytes: 8 * 1024 * 1024, totalMaxBytes: 256 * 1024 * 1024 };

/** Publishers of the most common databases by id prefix. */
const publishers: Record<string, string> = {
  GHSA: 'GitHub',
  PYSEC: 'Python Packaging Advisory Database',
  RUSTSEC: 'RustSec',
  GO: 'Go Vulnerability Database',
  MAL: 'OpenSSF Malicious Packages',
  OSV: 'OSV',
  CVE: 'CVE',
  EUVD: 'ENISA',
  ALSA: 'AlmaLinux',
  ASB: 'Android',
  BIT: 'Bitnami',
  CGA: 'Chainguard',
  CURL: 'curl',
  DLA: 'Debian',
  DSA: 'Debian',
  DRUPAL: 'Drupal',
  EEF: 'Erlang Ecosystem Foundation',
  HSEC: 'Haskell',
  JLSEC: 'Julia',
  MGASA: 'Mageia',
  MINI: 'MinimOS',
  OESA: 'openEuler',
  OPENSUSE: 'openSUSE',
  OSEC: 'OCaml',
  PSF: 'Python Software Foundation',
  RHBA: 'Red Hat',
  RHEA: 'Red Hat',
  RHSA: 'Red Hat',
  RLSA: 'Rocky Linux',
  RSEC: 'R Consortium',
  RXSA: 'Rocky Linux',
  SUSE: 'SUSE',
  UBUNTU: 'Ubuntu',
  USN: 'Ubuntu',
};

/**
 * Open Source Vulnerability records (schema 1.x) in JSON or YAML: a record, a directory, a zip archive, or an index `modified_id.csv`. Also
 * the records of GitHub's REST API and of the EUVD, see `convertForeignRecord`.
 */
export const osv: SourceFormat = {
  label: 'Open Source Vulnerabilities (OSV), GitHub advisories, EUVD',
  defaults: { language: 'en', reliability: 0.8, schedule: '0 * * * *' },
  files: /\.(?:json(?:\.gz)?|ya?ml(?:\.gz)?|zip)$/i,
  fetch: (session) => (/\.csv$/i.test(new URL(session.url).pathname) ? fetchOsv(session) : undefined),
  parse: toParse(draftOsv),
  draft: draftOsv,
};

function draftOsv(parts: SourceDocument[], context: ParseContext): DraftResult {
  return draftParts(
    parts.flatMap((part) => unzipPart(part, fileNames, zipBounds)),
    (part) => draftPart(part, context),
  );
}

function draftPart(part: SourceDocument, context: ParseContext): DraftResult {
  const document = parseJsonOrYaml(part.bytes);
  const { vulns, items } = asObject(document);
  const list = [document, vulns, items].find((one) => Array.isArray(one));
  const entries: unknown[] = list ?? [document];
  const drafted: DraftResult = { drafts: [], skipped: [] };
  for (const [index, stated] of entries.entries()) {
    const entry = (isObject(stated) && convertForeignRecord(stated)) || stated;
    const id = isObject(entry) ? asText(entry['id'])?.trim() : undefined;
    const modifiedAt = isObject(entry) ? parseInstant(entry['modified']) : undefined;
    if (isObject(entry) && id && osvIdPattern.test(id) && modifiedAt)
      drafted.drafts.push(
        draftEntry(id, entry, { url: part.url, modifiedAt, stated: stated as JsonObject, ...context }),
      );
    else if (entries.length === 1)
      throw new ExternalError('the document is not an OSV record with valid id and modified');
    else
      drafted.skipped.push({
        entry: id ?? `${part.name}[${index}]`,
        reason: 'not an OSV record with valid id and modified',
      });
  }
  return drafted;
}

/** `stated` is the record as its source writes it. */
type EntryContext = ParseContext & { url: string | undefined; modifiedAt: string; stated: JsonObject };

function draftEntry(id: string, entry: JsonObject, context: EntryContext): RecordDraft {
  const { modifiedAt } = context;
  const publishTime = parseInstant(entry['published']) ?? modifiedAt;
  return { recordId: id, publishTime, modifiedAt, build: () => toOsvRecord(id, entry, { ...context, publishTime }) };
}

function toOsvRecord(
  id: string,
  entry: JsonObject,
  { url, reliability, lists, publishTime, modifiedAt, stated }: EntryContext & { publishTime: string },
): SourceRecord {
  const text = storeFields(withoutDailyScores(stated), provenFields);
  const aliases = asTexts(entry['aliases']).map((alias) => alias.trim());
  const products = collectProducts(entry, reliability);
  const classification = createClassificationBuilder();
  for (const { framework, name } of listMappings(id, aliases, entry))
    classification.addMapping(framework, name, reliability);
  const details = asText(entry['details']);
  const summary = asText(entry['summary']) ?? (details && firstSentences(details, 1, 300));
  const statements = createStatementCollector(lists?.benign);
  if (isMalicious(id, entry)) stateMaliciousPackages(entry, { statements, confidence: reliability, text });
  for (const { framework, id: name, confidence } of statements.mappings)
    classification.addMapping(framework, name, confidence);
  return {
    ...toVulnerabilityFields(details, rate(id, entry, details ?? summary ?? ''), text),
    iocs: statements.iocs(publishTime),
    recordId: id,
    canonicalKey: toKey(id, aliases),
    aliases: [id, ...aliases],
    externalId: id,
    title: clip(toTitle(summary, entry) ?? id, 500),
    publisher: ownValue(publishers, prefixOf(id)),
    url: findUrl(entry, id),
    textUrl: url,
    publishTime,
    modifiedAt,
    withdrawn: parseInstant(entry['withdrawn']) !== undefined,
    abstract: details ?? summary,
    tldr: summary && firstSentences(summary, 1, 300),
    ...classification.build(products.platforms()),
    affectedProducts: products.products(),
  };
}

const shortTitleWords = 4;

/** Returns the summary, preceded by the package if it only says what kind of flaw it is: `thing: Memory leak`. */
function toTitle(summary: string | undefined, entry: JsonObject): string | undefined {
  const [first] = asObjects(entry['affected']);
  const name = asText(asObject(first?.['package'])['name']);
  if (!summary || !name || summary.trim().split(/\s+/).length > shortTitleWords) return summary;
  return summary.toLowerCase().includes(name.toLowerCase()) ? summary : `${name}: ${summary}`;
}

const provenFields = ['summary', 'details', 'description', 'aliases', 'cve_id', 'withdrawn', 'withdrawn_at'];

/** EPSS scores change every day, which corrects no record. */
const withoutDailyScores = (stated: JsonObject): JsonObject =>
  'epss' in stated ? Object.fromEntries(Object.entries(stated).filter(([name]) => name !== 'epss')) : stated;

function collectProducts(entry: JsonObject, reliability: number): ReturnType<typeof createProductCollector> {
  const products = createProductCollector(reliability);
  for (const affected of asObjects(entry['affected'])) {
    const { name, purl, ecosystem } = asObject(affected['package']);
    const product = asText(name) ?? asText(purl);
    const repository = product === undefined ? findRepository(affected) : undefined;
    const vendor = asText(ecosystem) ?? repository?.owner ?? '';
    products.add(vendor, product ?? repository?.name ?? '', listAffectedVersions(affected));
  }
  return products;
}

/** Returns the CVEs and weaknesses of a record, and its ids in databases of advisories. */
function listMappings(id: string, aliases: string[], entry: JsonObject): { framework: string; name: string }[] {
  const isCve = (name: string): boolean => cvePattern.test(name);
  const cwesOfPackages = asObjects(entry['affected'])
    .flatMap((one) => asObjects(asObject(one['database_specific'])['cwes']))
    .map(({ cweId }) => asText(cweId) ?? '');
  const cwes = [...asTexts(asObject(entry['database_specific'])['cwe_ids']), ...cwesOfPackages];
  return [
    ...[id, ...aliases, ...asTexts(entry['upstream'])].filter(isCve).map((name) => ({ framework: 'cve', name })),
    // Records of several databases about the same vulnerability are linked by these ids.
    ...[id, ...aliases].filter((name) => !isCve(name)).map((name) => ({ framework: 'observable:advisory', name })),
    ...cwes.filter((name) => cwePattern.test(name)).map((name) => ({ framework: 'cwe', name })),
  ];
}

/** Rates a record. A malicious package runs its code on every machine that installs it, so it is high if nothing else rates it. */
function rate(id: string, entry: JsonObject, text: string): SeverityRating {
  const isExploited = asObject(entry['database_specific'])['isExploited'] === true;
  const stated = judgeSeverity({ ...readSeverity(entry), text, exploited: isExploited ? 'listed' : 'no' });
  return isMalicious(id, entry) && stated.severity === 'none'
    ? { severity: 'high', rule: 'osv:malicious-package' }
    : stated;
}

const isMalicious = (id: string, entry: JsonObject): boolean =>
  prefixOf(id) === 'MAL' || asObject(entry['database_specific'])['isMalicious'] === true;

const prefixOf = (id: string): string => id.split('-')[0]!.toUpperCase();

/** Returns the key of the record's only CVE or, without a CVE or with several, of the database's own id. */
function toKey(id: string, aliases: string[]): string {
  if (cvePattern.test(id)) return `cve:${id}`;
  const cves = [...new Set(aliases.filter((alias) => cvePattern.test(alias)))];
  return cves.length === 1 ? `cve:${cves[0]}` : `adv:${prefixOf(id).toLowerCase()}:${id}`;
}

function readSeverity(entry: JsonObject): {
  cvss: NonNullable<ReturnType<typeof selectCvssScore>>[];
  word: string | undefined;
} {
  const stated = [entry, ...asObjects(entry['affected'])].flatMap((one) => asObjects(one['severity']));
  const best = selectCvssScore(
    stated.map(
      (one) => scoreCvssVector(asText(one['score']) ?? '') ?? checkCvssScore(one['version'], one['baseScore']),
    ),
  );
  const ubuntu = stated.find((one) => one['type'] === 'Ubuntu');
  return {
    cvss: best ? [best] : [],
    word: asText(asObject(entry['database_specific'])['severity']) ?? asText(ubuntu?.['score']),
  };
}

/** Returns the record's page, preferably that of its own database, whose address contains the id. */
function findUrl(entry: JsonObject, id: string): string | undefined {
  const own = { type: 'OWN', url: asText(asObject(entry['database_specific'])['url']) ?? '' };
  const references = asObjects(entry['references']).map(({ type, url }) => ({ type, url: asText(url) ?? '' }));
  const links = [own, ...references].filter(({ url }) => isWebLink(url));
  const hasId = ({ url }: { url: string }): boolean => url.toLowerCase().includes(id.toLowerCase());
  return (links.find(hasId) ?? links.find(({ type }) => type === 'ADVISORY') ?? links[0])?.url;
}

/** Returns the versions of an `affected` entry of an OSV record: its ranges or, without ranges, single versions. */
function listAffectedVersions(affected: JsonObject): string[] {
  const ranges = asObjects(affected['ranges'])
    .filter(({ type }) => type !== 'GIT')
    .flatMap((range) => toRanges(asObjects(range['events'])));
  return ranges.length > 0 ? ranges : asTexts(affected['versions']);
}

/** In the ordered events, `introduced` opens a range and the next other event closes it. */
function toRanges(events: JsonObject[]): string[] {
  const ranges: string[] = [];
  let open: string | undefined;
  for (const event of events) {
    const read = (name: string): string | undefined => asText(event[name])?.trim();
    const end = read('fixed') ?? read('limit');
    const last = read('last_affected');
    if (read('introduced') !== undefined) {
      if (open !== undefined) ranges.push(lowerBound(open) || '*');
      open = read('introduced');
    } else if (open !== undefined && (end ?? last) !== undefined) {
      ranges.push([lowerBound(open), end === undefined ? `<= ${last}` : `< ${end}`].filter(Boolean).join(', '));
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push(lowerBound(open) || '*');
  return ranges;
}

const lowerBound = (version: string): string => (version === '0' ? '' : `>= ${version}`);

/** Returns the owner and the name of the repository that an `affected` entry without a package names in its ranges. */
function findRepository(affected: JsonObject): { owner: string; name: string } | undefined {
  const address = asObjects(affected['ranges'])
    .map(({ repo }) => asText(repo))
    .find((repo) => repo !== undefined);
  const path =
    URL.parse(address ?? '')
      ?.pathname.split('/')
      .filter(Boolean) ?? [];
  const name = path.at(-1)?.replace(/\.git$/, '');
  // `https://git.acme.example/git/thing.git` has no owner.
  return name ? { owner: path.length === 2 && path[0] !== 'git' ? path[0]! : '', name } : undefined;
}
