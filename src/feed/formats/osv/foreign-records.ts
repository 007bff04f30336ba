import {
  asObject,
  asObjects,
  asScalarText,
  asText,
  asTexts,
  type JsonObject,
  ownValue,
} from '../../../platform/lib/json/json-values.ts';
import type { createStatementCollector } from '../../extraction/indicator-statements.ts';
import { createAddressObservable, createObservable, type Observable } from '../../extraction/observable.ts';
import { extractIndicators } from '../../extraction/indicators/extract-indicators.ts';
import { locateValue } from '../../extraction/text/locate-value.ts';
import { valueMaxChars, type StoredText } from '../../extraction/text/stored-text.ts';

/** Ecosystems of OSV by their name at GitHub. Others have the same name. */
const ecosystems: Record<string, string> = {
  pip: 'PyPI',
  maven: 'Maven',
  go: 'Go',
  nuget: 'NuGet',
  rubygems: 'RubyGems',
  composer: 'Packagist',
  rust: 'crates.io',
  erlang: 'Hex',
  actions: 'GitHub Actions',
  pub: 'Pub',
  swift: 'SwiftURL',
};

/**
 * Returns a record of another list of vulnerabilities with the fields of OSV: a global security advisory of GitHub's REST API, or a record
 * of the European Union Vulnerability Database (EUVD). Returns undefined for anything else.
 */
export function convertForeignRecord(entry: JsonObject): JsonObject | undefined {
  if (asText(entry['ghsa_id'])) return convertGithubAdvisory(entry);
  return entry['published'] === undefined && /^EUVD-/i.test(asText(entry['id']) ?? '') ? convertEuvd(entry) : undefined;
}

function convertGithubAdvisory(entry: JsonObject): JsonObject {
  const { cvss_v3: version3, cvss_v4: version4 } = asObject(entry['cvss_severities']);
  const identifiers = asObjects(entry['identifiers']).map(({ value }) => value);
  return {
    id: entry['ghsa_id'],
    aliases: unique([entry['cve_id'], ...identifiers]).filter((alias) => alias !== entry['ghsa_id']),
    summary: entry['summary'],
    details: entry['description'],
    published: entry['published_at'],
    modified: entry['updated_at'],
    withdrawn: entry['withdrawn_at'],
    severity: [version4, version3, entry['cvss']].map((score) => ({ score: asObject(score)['vector_string'] })),
    affected: asObjects(entry['vulnerabilities']).map((one) => {
      const { ecosystem, name } = asObject(one['package']);
      const known = asText(ecosystem) ?? '';
      return {
        package: { ecosystem: ownValue(ecosystems, known) ?? known, name },
        ...toAffected(asText(one['vulnerable_version_range']) ?? ''),
      };
    }),
    references: asTexts(entry['references']).map((url) => ({ type: 'WEB', url })),
    database_specific: {
      url: entry['html_url'],
      severity: entry['severity'],
      cwe_ids: asObjects(entry['cwes']).map((cwe) => cwe['cwe_id']),
      isMalicious: entry['type'] === 'malware',
    },
  };
}

/** `>= 0` is every version, and `= 1.2` a single one. */
const toAffected = (range: string): JsonObject =>
  /^>=? 0$/.test(range)
    ? { ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }] }] }
    : { versions: [range.replace(/^= /, '')] };

/** Aliases and references are lines of one text, and times look like `Apr 15, 2025, 8:30:58 PM`. */
function convertEuvd(entry: JsonObject): JsonObject {
  const toTime = (value: unknown): string => `${asText(value) ?? ''} UTC`;
  const vendors = unique(asObjects(entry['enisaIdVendor']).map(({ vendor }) => asObject(vendor)['name']));
  const products = asObjects(entry['enisaIdProduct']).map(({ product, product_version: version }) => ({
    product: asObject(product),
    versions: toEuvdVersions(asText(version) ?? ''),
  }));
  return {
    id: entry['id'],
    aliases: toLines(entry['aliases']),
    details: entry['description'],
    published: toTime(entry['datePublished']),
    modified: toTime(entry['dateUpdated'] ?? entry['datePublished']),
    severity: [
      {
        score: entry['baseScoreVector'],
        baseScore: entry['baseScore'],
        version: asScalarText(entry['baseScoreVersion']),
      },
    ],
    affected: products.map(({ product, versions }) => ({
      package: {
        // With several vendors, only the product itself could say which one is its own.
        ecosystem: asObject(product['vendor'])['name'] ?? (vendors.length === 1 ? vendors[0] : ''),
        name: product['name'],
      },
      versions,
    })),
    references: toLines(entry['references']).map((url) => ({ type: 'WEB', url })),
    database_specific: {
      url: `https://euvd.enisa.europa.eu/vulnerability/${asText(entry['id'])}`,
      isExploited: asText(entry['exploitedSince']) !== undefined,
    },
  };
}

const unique = (values: unknown[]): string[] => [...new Set(asTexts(values))];

const toLines = (value: unknown): string[] => (asText(value) ?? '').split(/\s*\n\s*/).filter((line) => line !== '');

const unstated = /^(?:|0|\*|-|n\/a|unspecified)$/i;

/** Reads `1.0 <1.2`, `1.0 ≤1.2`, `<1.2` and single versions. */
function toEuvdVersions(stated: string): string[] {
  const text = stated.trim();
  const [, start = '', sign, end] = /^([^<>=≤,]*?)\s*(<=?|≤)\s*([^<>=≤,]+)$/.exec(text) ?? [];
  if (!sign) return unstated.test(text) ? [] : [text];
  const bounds = [unstated.test(start) ? '' : `>= ${start}`, `${sign === '<' ? '<' : '<='} ${end}`];
  return [bounds.filter(Boolean).join(', ')];
}

type StatementContext = {
  statements: ReturnType<typeof createStatementCollector>;
  confidence: number;
  text: StoredText;
};

/** Package URL types (https://github.com/package-url/purl-spec) by ecosystem of OSV. */
const purlTypes: Record<string, string> = {
  npm: 'npm',
  PyPI: 'pypi',
  RubyGems: 'gem',
  'crates.io': 'cargo',
  Go: 'golang',
  NuGet: 'nuget',
  Maven: 'maven',
  Packagist: 'composer',
  'GitHub Actions': 'githubactions',
  VSCode: 'vscode',
};

/**
 * States the indicators of a `MAL-` record: its packages as `observable:package` (package URLs), and the addresses and hashes in
 * `database_specific.iocs` (https://github.com/ossf/malicious-packages), of the record or of an affected package, and those that the
 * details print defanged.
 */
export function stateMaliciousPackages(entry: JsonObject, { statements, confidence, text }: StatementContext): void {
  const affected = asObjects(entry['affected']);
  for (const one of affected)
    for (const value of listPackageUrls(one))
      statements.state({ kind: 'other', framework: 'observable:package', value }, { confidence });
  const stored = text.text();
  const stated = [entry, ...affected].flatMap((holder) =>
    listObservables(asObject(asObject(holder['database_specific'])['iocs'])),
  );
  for (const observable of [...stated, ...listDefanged(asText(entry['details']) ?? '')]) {
    statements.state(observable, { confidence });
    const span = locateValue(stored, { start: 0, end: stored.length }, observable.value);
    if (span && observable.kind === 'indicator') text.addPassage(span, valueMaxChars);
  }
}

const defanging = /hxxp|[[({]\s?(?:\.|dot)\s?[\])}]/i;

/** Returns the values that the details print defanged. Their live addresses are mostly references. */
function listDefanged(details: string): Observable[] {
  if (!defanging.test(details)) return [];
  return extractIndicators(details)
    .indicators.filter(({ status, reasons }) => status === 'active' && reasons.includes('printed defanged'))
    .map(({ type, value, normalizedValue }) => ({ kind: 'indicator', type, value, normalizedValue }));
}

/** Returns the package URL of each malicious version, or of the package if it has no listed versions. */
function listPackageUrls(affected: JsonObject): string[] {
  const { name, purl, ecosystem } = asObject(affected['package']);
  const stated = asText(purl);
  const type = ownValue(purlTypes, (asText(ecosystem) ?? '').split(':')[0]!);
  const [first = '', ...rest] = (asText(name) ?? '').split('/');
  const path = [first.replace('@', '%40'), ...rest].join('/');
  const base = stated ?? (type && asText(name) ? `pkg:${type}/${path}` : asText(name));
  if (!base) return [];
  const versions = asTexts(affected['versions'])
    .filter((version) => !/[<>=*]/.test(version))
    .slice(0, 100);
  return versions.length === 0 || base.includes('@') ? [base] : versions.map((version) => `${base}@${version}`);
}

function listObservables(iocs: JsonObject): Observable[] {
  return [
    ...[...asTexts(iocs['domains']), ...asTexts(iocs['ips'])].map((value) => createAddressObservable(value)),
    ...asTexts(iocs['urls']).map((value) => createObservable('url', value)),
    ...[...asTexts(iocs['hashes']), ...asTexts(iocs['sha256'])].map((value) => createObservable('sha256', value)),
  ];
}
