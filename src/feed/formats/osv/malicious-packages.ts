import type { createStatementCollector } from '../../extraction/indicator-statements.ts';
import { createAddressObservable, createObservable, type Observable } from '../../extraction/observable.ts';
import { extractIndicators } from '../../extraction/indicators/extract-indicators.ts';
import { locateValue } from '../../extraction/text/locate-value.ts';
import { valueMaxChars, type StoredText } from '../../extraction/text/stored-text.ts';
import {
  asObject,
  asObjects,
  asText,
  asTexts,
  type JsonObject,
  ownValue,
} from '../../../platform/lib/json/json-values.ts';

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
