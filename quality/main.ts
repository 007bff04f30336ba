import { parseOptions } from '../test/support/parse-options.ts';
import { measureAnnoCtr } from './prose/annoctr.ts';
import { measureAgents } from './agents/agents.ts';
import { measureTriage } from './agents/triage.ts';
import { measureAuditLogs } from './detections/audit-logs.ts';
import { measureCost } from './detections/cost.ts';
import { measureCorrections } from './feed/corrections.ts';
import { measureDuplicates } from './feed/duplicates.ts';
import { measureFeeds } from './feed/feeds.ts';
import { measureLateData } from './detections/late-data.ts';
import { measureIncidents } from './detections/incidents.ts';
import { measureInjection } from './detections/injection.ts';
import { measureIntents } from './detections/intents.ts';
import { measureIndicators } from './prose/indicators.ts';
import { measureNames } from './prose/names.ts';
import { measureNoise } from './detections/noise.ts';
import { formatSection, writeQualityPage, type QualitySubject } from './quality-page.ts';
import { measurePassages } from './feed/passages.ts';
import { measureScenarios } from './detections/scenarios.ts';
import { measureReading } from './prose/reading.ts';
import { measureReports } from './prose/reports.ts';
import { measurePortable } from './sigma/portable.ts';
import { measureSearch } from './feed/search.ts';
import { measureStixOut } from './feed/stix-out.ts';
import { measureSeverity } from './prose/severity.ts';
import { measureSigma } from './sigma/sigma.ts';
import { measureTechniqueReports } from './prose/technique-reports.ts';
import { measureTechniques } from './prose/techniques.ts';
import { formatFigures } from './figures.ts';
import { measureValues } from './prose/values.ts';
import { measureWindows } from './detections/windows.ts';

const usage = `Measures the recorded inputs and prints one table per subject, all of them without names.

Usage: npm run quality -- [OPTION…] [NAME…]
  --list                   Also print the single errors of some subjects.
  --write                  Replace the figures of the measured subjects in docs/reference/quality.md.
  agents, triage           Only by name. They write docs/reference/agents-quality.md. triage is the shipped agent that looks into hits.
    --analyst NAME         One of the scripted analysts.
    --model URL            A live model that speaks the chat completions of OpenAI, instead of the scripted analysts, and a second reader for reading.
    --model-name NAME, --model-size SIZE, --context TOKENS, --cases COUNT
                           What the page calls it, its context (16384) and how many cases it judges (50).
  --stix-schemas FOLDER    The JSON schemas of STIX 2.1, for stix-out.
  --reports FOLDER         The texts of public reports, for names, reports, severity, values and technique-reports.
  --clickhouse URL, --opensearch URL, --elasticsearch URL
                           Servers for portable, and ClickHouse for sigma.`;

const config = {
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    write: { type: 'boolean' },
    'stix-schemas': { type: 'string' },
    reports: { type: 'string' },
    analyst: { type: 'string' },
    model: { type: 'string' },
    'model-name': { type: 'string' },
    'model-size': { type: 'string' },
    context: { type: 'string' },
    cases: { type: 'string' },
    clickhouse: { type: 'string' },
    opensearch: { type: 'string' },
    elasticsearch: { type: 'string' },
  },
} as const;
const { values: options, positionals: names } = parseOptions(config, usage);
const measurements = {
  reading: (verbose) => measureReading(verbose, options.model),
  duplicates: measureDuplicates,
  feeds: measureFeeds,
  indicators: measureIndicators,
  names: (verbose) => measureNames(verbose, options.reports),
  reports: (verbose) => measureReports(verbose, options.reports),
  values: (verbose) => measureValues(verbose, options.reports),
  severity: (verbose) => measureSeverity(verbose, options.reports),
  noise: measureNoise,
  techniques: measureTechniques,
  annoctr: measureAnnoCtr,
  'technique-reports': (verbose) => measureTechniqueReports(verbose, options.reports),
  corrections: measureCorrections,
  passages: measurePassages,
  search: measureSearch,
  scenarios: measureScenarios,
  incidents: measureIncidents,
  windows: measureWindows,
  'audit-logs': measureAuditLogs,
  injection: measureInjection,
  intents: measureIntents,
  cost: measureCost,
  'late-data': measureLateData,
  sigma: (verbose) => measureSigma(verbose, options.clickhouse),
  portable: () => measurePortable(options),
  'stix-out': (verbose) => measureStixOut(verbose, options['stix-schemas']),
} satisfies Record<QualitySubject, (verbose: boolean) => Promise<Parameters<typeof formatFigures>[0]>>;

const ownPages = { agents: measureAgents, triage: measureTriage };
const unknown = names.filter((name) => !Object.hasOwn(ownPages, name) && !Object.hasOwn(measurements, name));
if (unknown.length > 0) {
  console.error(
    `Unknown subject: ${unknown.join(', ')}. Subjects: ${Object.keys({ ...ownPages, ...measurements }).join(', ')}.`,
  );
  process.exit(2);
}
const verbose = options.list ?? false;
for (const [subject, measure] of Object.entries(ownPages)) {
  if (!names.includes(subject)) continue;
  const { analyst, model, context, cases, write = false, 'model-name': name, 'model-size': size } = options;
  console.log(`\n${formatFigures(await measure({ verbose, write, model, name, size, context, cases, analyst }))}`);
}
const sections = new Map<string, string>();
for (const [name, measure] of Object.entries(measurements)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const section = formatSection(name, formatFigures(await measure(verbose)));
  sections.set(name, section);
  console.log(`\n${section}`);
}
if (options.write && sections.size > 0) writeQualityPage(sections);
