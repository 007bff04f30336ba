import { parseArgs } from 'node:util';
import { measureAnnoCtr } from './annoctr.ts';
import { measureAuditLogs } from './audit-logs.ts';
import { measureCorrections } from './corrections.ts';
import { measureDuplicates } from './duplicates.ts';
import { measureFeeds } from './feeds.ts';
import { measureInjection } from './injection.ts';
import { measureIndicators } from './indicators.ts';
import { measureNames } from './names.ts';
import { measureNoise } from './noise.ts';
import { writeQualityPage } from './quality-page.ts';
import { measurePassages } from './passages.ts';
import { measureReports } from './reports.ts';
import { measurePortable } from './portable.ts';
import { measureStixOut } from './stix-out.ts';
import { measureSeverity } from './severity.ts';
import { measureSigma } from './sigma.ts';
import { measureTechniques } from './techniques.ts';
import { formatFigures } from './figures.ts';
import { measureWindows } from './windows.ts';

/**
 * `npm run quality [-- NAME …] [--list] [--write] [--stix-schemas FOLDER] [--reports FOLDER] [--clickhouse URL]
 * [--opensearch URL] [--elasticsearch URL]`: measures the recorded inputs and
 * prints one table per subject.
 * `--write` replaces the sections of the measured subjects in docs/reference/quality.md.
 */
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    write: { type: 'boolean' },
    'stix-schemas': { type: 'string' },
    reports: { type: 'string' },
    clickhouse: { type: 'string' },
    opensearch: { type: 'string' },
    elasticsearch: { type: 'string' },
  },
});
const measurements = {
  duplicates: measureDuplicates,
  feeds: measureFeeds,
  indicators: measureIndicators,
  names: measureNames,
  reports: (verbose) => measureReports(verbose, options.reports),
  severity: (verbose) => measureSeverity(verbose, options.reports),
  noise: measureNoise,
  techniques: measureTechniques,
  annoctr: measureAnnoCtr,
  corrections: measureCorrections,
  passages: measurePassages,
  windows: measureWindows,
  'audit-logs': measureAuditLogs,
  injection: measureInjection,
  sigma: (verbose) => measureSigma(verbose, options.clickhouse),
  portable: () => measurePortable(options),
  'stix-out': (verbose) => measureStixOut(verbose, options['stix-schemas']),
} satisfies Record<string, (verbose: boolean) => Promise<Parameters<typeof formatFigures>[0]>>;

const unknown = names.filter((name) => !Object.hasOwn(measurements, name));
if (unknown.length > 0)
  throw new Error(`Unknown subject: ${unknown.join(', ')}. Subjects: ${Object.keys(measurements).join(', ')}.`);
const verbose = options.list ?? false;
const sections = new Map<string, string>();
for (const [name, measure] of Object.entries(measurements)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const section = `## ${name}\n\nCommand: \`npm run quality -- ${name}\`\n\n${formatFigures(await measure(verbose))}\n`;
  sections.set(name, section);
  console.log(`\n${section}`);
}
if (options.write) writeQualityPage(Object.keys(measurements), sections);
