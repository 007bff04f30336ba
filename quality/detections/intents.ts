import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { matchIntent, type IntentMatch } from '../../src/agents/suggestions/matching/match-intent.ts';
import { logKinds, type LogDataset } from '../../src/agents/suggestions/log-kinds.ts';
import { loadTemplates } from '../../src/agents/suggestions/templates/query-templates.ts';
import { loadLibrary } from '../../src/detection/library/load-library.ts';
import type { QualityFigure } from '../figures.ts';

const Intents = z.array(z.strictObject({ intent: z.string(), fits: z.array(z.string()) }));
const IntentFile = z.strictObject({ work: Intents, held: Intents });
type Intent = z.infer<typeof Intents>[number];

const rightMin = 20;

const outcomes = ['right', 'wrong', 'refused'] as const;
type Outcome = (typeof outcomes)[number];

/** Measures which shipped detection or template the intents of `intents.yaml` get without a model. */
export async function measureIntents(verbose: boolean): Promise<QualityFigure[]> {
  const { work, held } = IntentFile.parse(parse(readFileSync(resolve(import.meta.dirname, 'intents.yaml'), 'utf8')));
  checkIds([...work, ...held]);
  const everything = listEveryDataset();
  const windows = everything.filter(({ name }) => name === 'windows');
  const all = [...work, ...held];
  const answerable = all.filter(({ fits }) => fits.length > 0);
  const right = answerable.filter((intent) => judge(intent, everything).outcome === 'right').length;
  return [
    {
      name: 'all with a fitting detection or template: right',
      measured: `${right} of ${answerable.length}`,
      target: `≥ ${rightMin}`,
      isMet: right >= rightMin,
    },
    ...measure('used to build it', work, { datasets: everything, verbose }),
    ...measure('only measured', held, { datasets: everything, verbose }),
    ...measure('all, with Windows events alone', all, { datasets: windows, verbose }),
  ];
}

type Setup = { datasets: readonly LogDataset[]; verbose: boolean };

function measure(name: string, intents: readonly Intent[], { datasets, verbose }: Setup): QualityFigure[] {
  const answered = intents.filter(({ fits }) => fits.length > 0);
  const unanswerable = intents.filter(({ fits }) => fits.length === 0);
  const results = answered.map((intent) => ({ intent, ...judge(intent, datasets) }));
  const refusals = unanswerable.map((intent) => ({ intent, ...judge(intent, datasets) }));
  if (verbose)
    for (const { intent, outcome, first } of [...results, ...refusals])
      if (outcome !== 'right') console.log(`${name}: ${outcome}: ${intent.intent.slice(0, 80)} → ${first}`);
  const counts = outcomes.map((outcome) => `${countOf(results, outcome)} ${outcome}`).join(', ');
  const missed = results.filter(({ outcome }) => outcome === 'refused');
  const offered = missed.filter(({ isOffered }) => isOffered).length;
  return [
    { name: `${name}: ${answered.length} with a fitting one`, measured: counts },
    ...(missed.length === 0
      ? []
      : [
          {
            name: `${name}: refused, and the fitting one is offered as the nearest`,
            measured: `${offered} of ${missed.length}`,
          },
        ]),
    { name: `${name}: ${unanswerable.length} without one: refused`, measured: `${countOf(refusals, 'right')}` },
  ];
}

const countOf = (results: readonly { outcome: Outcome }[], outcome: Outcome): number =>
  results.filter((result) => result.outcome === outcome).length;

/** Judges the first answer. An intent that nothing fits is right if it is refused. A fitting detection whose data is missing counts as right. */
function judge({ intent, fits }: Intent, datasets: readonly LogDataset[]) {
  const { answers, nearest } = matchIntent(intent, datasets);
  const [first] = answers;
  const outcome: Outcome =
    first === undefined ? (fits.length === 0 ? 'right' : 'refused') : fits.includes(toId(first)) ? 'right' : 'wrong';
  return {
    outcome,
    first: first ? toId(first) : 'refused',
    isOffered: nearest.some((one) => fits.includes(toId(one))),
  };
}

const toId = ({ kind, id }: IntentMatch): string => (kind === 'shipped' ? id : `template:${id}`);

/** Returns datasets with every field that the library needs, and one for each kind of logs that templates read. */
function listEveryDataset(): LogDataset[] {
  const fields = new Map<string, Set<string>>();
  const add = (dataset: string, names: readonly string[]): void =>
    void fields.set(dataset, new Set([...(fields.get(dataset) ?? []), ...names]));
  for (const { datasets } of loadLibrary().values())
    for (const [name, names] of Object.entries(datasets)) add(name, names);
  for (const [kind, { parts }] of Object.entries(logKinds))
    add(`own_${kind.toLowerCase()}`, Object.values(parts).flat());
  return [...fields].map(([name, names]) => ({ name, columns: [...names].map((column) => ({ name: column })) }));
}

/** Throws for an intent whose detection or template does not exist. */
function checkIds(intents: readonly Intent[]): void {
  const ids = new Set([...loadLibrary().keys(), ...loadTemplates().map(({ id }) => `template:${id}`)]);
  const unknown = intents.flatMap(({ fits }) => fits.filter((id) => !ids.has(id)));
  if (unknown.length > 0) throw new Error(`quality/detections/intents.yaml: unknown ${unknown.join(', ')}.`);
}
