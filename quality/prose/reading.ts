import { completeItem, type CompletedReport, readReport } from '../../src/feed/extraction/extract-item.ts';
import { claimsOf, textOfQuote } from '../../src/feed/extraction/reading/claim.ts';
import type { PartAnswer } from '../../src/feed/extraction/reading/model-claims.ts';
import { buckets, type Severity, type ValueRole } from '../../src/feed/model/vocabulary.ts';
import { readWithModel } from '../../src/feed/reading/read-with-model.ts';
import { readModelSettings } from '../../src/platform/models/model-settings.ts';
import { type ConfiguredModel, createModels } from '../../src/platform/models/models.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';
import { readRecordedJson, readRecordedRows } from '../recorded-inputs.ts';
import { readLabels } from './labeled-texts.ts';

type FoolingText = { id: string; title: string; text: string; severityWanted: Severity[] | null };
/** The expected claims about a text. A field without a label is absent. Values are refanged. */
type ReadingLabel = {
  id: string;
  actors?: string[];
  techniques?: string[];
  /** Values that the text calls harmless, and such that it does not. */
  harmless?: string[];
  hostile?: string[];
};
type ReadText = { text: FoolingText; label: ReadingLabel; read: CompletedReport };

/** Measures both readers on texts that were written to fool rules. `url` is the address of an OpenAI-compatible server. */
export async function measureReading(_verbose: boolean, url?: string): Promise<QualityFigure[]> {
  const texts = readRecordedJson<FoolingText[]>('cases/texts.json');
  const labels = new Map(readLabels<ReadingLabel>('reading-labels.json').map((label) => [label.id, label]));
  const model = url === undefined ? undefined : findModel(url);
  const lexicon = texts.map((text) => ({ text, label: labels.get(text.id)!, read: completeItem(text, {}) }));
  if (!model) {
    const further = readLabels<FoolingText & ReadingLabel>('fooling-texts.json').map((text) => ({
      text,
      label: text,
      read: completeItem(text, {}),
    }));
    return [
      ...measureReader('lexicon', lexicon),
      ...measureReader('lexicon, further texts', further),
      ...measureAdvice(),
    ];
  }
  const both: ReadText[] = [];
  const [startedAt, spent] = [performance.now(), { calls: 0, tokens: 0, problems: 0 }];
  for (const one of lexicon) {
    const answers = await ask(one.read, model, spent);
    both.push({ ...one, read: completeItem(one.text, { answers }) });
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return [
    ...measureReader('lexicon', lexicon),
    ...measureReader(`lexicon and ${model.name}`, both),
    ...measureClaims(both),
    {
      name: `${texts.length} texts with ${model.name}: calls, tokens, seconds, parts without a usable answer`,
      measured: `${spent.calls}, ${spent.tokens}, ${seconds}, ${spent.problems}`,
    },
  ];
}

function findModel(url: string): ConfiguredModel {
  const entry = {
    provider: 'openai-compatible',
    model: 'local',
    baseUrl: url,
    local: true,
    contextTokens: 8192,
    maxOutputTokens: 1024,
    timeoutSeconds: 300,
  };
  return createModels(readModelSettings(JSON.stringify({ reader: entry }), {})).find('reader')!;
}

type Spent = { calls: number; tokens: number; problems: number };

async function ask(read: CompletedReport, model: ConfiguredModel, spent: Spent): Promise<PartAnswer[]> {
  const { answers, unreadParts } = await readWithModel(read, {
    model,
    subject: 'text',
    signal: new AbortController().signal,
    keepLease: async () => undefined,
    checkBudget: async () => undefined,
    recordStep: async ({ tokens }) => {
      spent.calls += 1;
      spent.tokens += tokens.input + tokens.output;
    },
  });
  spent.problems += unreadParts;
  return answers;
}

/** Measures the advice that the lexicon reads in recorded reports. `advice-labels.json` has the beginnings of the sentences that are advice. */
function measureAdvice(): QualityFigure[] {
  const reports = ['feed/tram/reports.ndjson.gz', 'feed/annoctr/dev.ndjson.gz'].flatMap(
    readRecordedRows<{ title: string; text: string }>,
  );
  const labels = readLabels<string>('advice-labels.json');
  const found = reports.map((report) => claimsOf(readReport(report).lexicon.claims, 'advice'));
  const sentences = [...new Set(found.flat().map(({ value }) => value))];
  const right = sentences.filter((sentence) => labels.some((label) => sentence.startsWith(label)));
  const advising = found.filter((claims) => claims.length > 0).length;
  return [
    {
      name: `advice of ${advising} of ${reports.length} reports: sentences that advise their readers`,
      measured: formatRatio(right.length, sentences.length),
    },
  ];
}

function measureReader(reader: string, texts: ReadText[]): QualityFigure[] {
  const rated = texts.filter(({ text }) => text.severityWanted !== null);
  const levels = rated.filter(({ text, read }) => text.severityWanted!.includes(read.item.severity));
  const count = (pick: (one: ReadText) => string[]): number => texts.flatMap(pick).length;
  const wrongActors = ({ label, read }: ReadText): string[] =>
    read.item.classification.actor
      .map(({ name }) => name)
      .filter((name) => label.actors && !label.actors.includes(name));
  const wrongTechniques = ({ label, read }: ReadText): string[] =>
    read.item.classification.attack
      .map(({ technique }) => technique)
      .filter((id) => label.techniques && !label.techniques.includes(id));
  const harmless = count(({ label }) => label.harmless ?? []);
  const ended = count((one) => (one.label.harmless ?? []).filter((value) => isHarmless(one, value)));
  const hostile = count((one) => (one.label.hostile ?? []).filter((value) => !isHarmless(one, value)));
  return [
    { name: `${reader}: severity among the defensible levels`, measured: formatRatio(levels.length, rated.length) },
    { name: `${reader}: actors that are none`, measured: String(count(wrongActors)) },
    { name: `${reader}: techniques that nobody used`, measured: String(count(wrongTechniques)) },
    {
      name: `${reader}: harmless values known as such, hostile ones kept`,
      measured: `${ended} of ${harmless}, ${hostile} of ${count(({ label }) => label.hostile ?? [])}`,
    },
  ];
}

const harmlessRoles: readonly (ValueRole | string)[] = [
  'victim',
  'legitimate',
  'sinkhole',
  'scanner',
  'research',
  'reference',
  'example',
];

/** Returns whether the item says that a value is harmless: by its status or its role. */
const isHarmless = ({ read }: ReadText, value: string): boolean =>
  buckets
    .flatMap((bucket) => read.item.iocs[bucket])
    .filter(({ normalizedValue }) => normalizedValue === value)
    .every(({ status, role }) => status !== 'active' || harmlessRoles.includes(role ?? ''));

function measureClaims(texts: ReadText[]): QualityFigure[] {
  const claims = texts.flatMap(({ read }) => read.model.claims.map((claim) => ({ claim, document: read.document })));
  const invented = claims.filter(({ claim, document }) => textOfQuote(document, claim.quote).trim() === '');
  const dropped = texts.flatMap(({ read }) => Object.values(read.model.dropped)).reduce((sum, n) => sum + n, 0);
  const malformed = texts.reduce((sum, { read }) => sum + read.malformed, 0);
  return [
    {
      name: 'claims of the model: standing, dropped, without a usable form',
      measured: `${claims.length}, ${dropped}, ${malformed}`,
    },
    {
      name: 'claims in items whose passage is not in the text',
      measured: String(invented.length),
      target: '0',
      isMet: invented.length === 0,
    },
  ];
}
