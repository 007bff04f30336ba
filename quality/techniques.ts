import { readProcedures, readReports, type Example, type Report } from '../scripts/techniques/examples.ts';
import { packModel } from '../scripts/techniques/pack.ts';
import { seeded } from '../scripts/techniques/svm.ts';
import { trainModel } from '../scripts/techniques/train.ts';
import { bestSentences, extractTechniques } from '../src/feed/extraction/techniques/extract-techniques.ts';
import { unpackModel, type Model } from '../src/feed/extraction/techniques/technique-model.ts';
import { sentencesOf } from '../src/feed/extraction/techniques/technique-passages.ts';
import { useAttack } from '../src/feed/reference-data/attack.ts';
import { requireData } from './data.ts';
import { largeAttack } from './large.ts';
import type { Figure } from './table.ts';

const folds = 5;
const weightsMax = 420_000;

type Counts = { hit: number; wrong: number; missed: number };
/** What one document of a test fold gives: gold and found (by the shipped facts, with the large lists, by the classifier alone), of the labels seen in training. */
type Judged = { gold: Set<string>; found: Set<string>; large: Set<string>; alone: Set<string> };

/** Micro-F1 over documents, 5 folds by document; the threshold is chosen inside each training fold. */
export async function measureTechniques(verbose: boolean): Promise<Figure[]> {
  const dir = requireData();
  const reports = readReports(dir);
  const procedures = readProcedures(dir);
  const common = commonest(reports, 50);
  const figures: Figure[] = [];
  const settings: [string, Example[]][] = [
    ['with ATT&CK sentences', procedures],
    ['without', []],
  ];
  for (const [name, extra] of settings) {
    const judged = crossValidate(reports, extra);
    figures.push(figureOf(`techniques, all labels, ${name}, shipped facts`, judged, { target: 0.66 }));
    figures.push(figureOf(`techniques, 50 commonest, ${name}, shipped facts`, judged, { target: 0.69, only: common }));
    const large = judged.map((one) => ({ ...one, found: one.large }));
    figures.push(figureOf(`techniques, all labels, ${name}, with the large lists`, large, { target: 0.66 }));
    figures.push(
      figureOf(`techniques, 50 commonest, ${name}, with the large lists`, large, { target: 0.69, only: common }),
    );
    figures.push(
      figureOf(
        `classifier alone, all labels, ${name}`,
        judged.map((one) => ({ ...one, found: one.alone })),
        {},
      ),
    );
    if (verbose) listErrors(judged);
  }
  return figures;
}

function crossValidate(reports: Report[], extra: Example[]): Judged[] {
  const random = seeded(1);
  const order = reports.map((report) => ({ report, at: random() })).toSorted((a, b) => a.at - b.at);
  const foldOf = new Map(order.map(({ report }, index) => [report.id, index % folds]));
  const judged: Judged[] = [];
  for (let fold = 0; fold < folds; fold += 1) {
    const training = reports.filter(({ id }) => foldOf.get(id) !== fold);
    const seen = new Set(training.flatMap(({ examples }) => examples.flatMap(({ labels }) => labels)));
    const threshold = chooseThreshold(training, extra);
    const model = build(training, extra, threshold);
    const known = (ids: string[]): Set<string> => new Set(ids.filter((id) => seen.has(id)));
    const read = (text: string): Set<string> =>
      known(extractTechniques(text, model).map(({ technique }) => technique.id));
    const tested = reports.filter(({ id }) => foldOf.get(id) === fold);
    useAttack(largeAttack());
    const large = new Map(tested.map(({ id, text }) => [id, read(text)]));
    useAttack(undefined);
    for (const report of tested) {
      judged.push({
        gold: known(report.techniques),
        found: read(report.text),
        large: large.get(report.id)!,
        alone: known([...bestSentences(report.text, sentencesOf(report.text), model).keys()]),
      });
    }
    console.log(`fold ${fold + 1} of ${folds}: ${seen.size} labels, threshold ${threshold.toFixed(2)}`);
  }
  return judged;
}

/** The shipped form of a model: pruned and quantised. */
function build(training: Report[], extra: Example[], threshold: number): Model {
  const examples = training.flatMap((report) => report.examples);
  const labels = [...new Set(examples.flatMap((example) => example.labels))].toSorted();
  const trained = trainModel([...examples, ...extra], labels, { examplesMin: 1, threshold: () => threshold });
  return unpackModel(packModel(trained, weightsMax));
}

/** The threshold with the best score on a fourth of the training documents, by a model of the others. */
function chooseThreshold(training: Report[], extra: Example[]): number {
  const held = training.filter((_, index) => index % 4 === 0);
  const model = build(
    training.filter((_, index) => index % 4 !== 0),
    extra,
    -9,
  );
  const seen = new Set(model.labels);
  const scored = held.map((report) => ({
    gold: new Set(report.techniques.filter((id) => seen.has(id))),
    best: bestSentences(report.text, sentencesOf(report.text), model),
  }));
  let best = { threshold: 0, score: -1 };
  for (let threshold = -1.2; threshold < 0.4; threshold += 0.05) {
    const judged = scored.map(({ gold, best: margins }) => ({
      gold,
      found: new Set([...margins].filter(([, { margin }]) => margin >= threshold).map(([label]) => label)),
    }));
    const score = f1(judged.map((one) => countsOf(one)));
    if (score > best.score) best = { threshold, score };
  }
  return best.threshold;
}

function countsOf({ gold, found }: { gold: Set<string>; found: Set<string> }, only?: Set<string>): Counts {
  const counted = (ids: Set<string>): string[] => [...ids].filter((id) => !only || only.has(id));
  const hit = counted(found).filter((id) => gold.has(id)).length;
  return { hit, wrong: counted(found).length - hit, missed: counted(gold).length - hit };
}

function f1(counts: Counts[]): number {
  const sum = (name: keyof Counts): number => counts.reduce((total, one) => total + one[name], 0);
  return (2 * sum('hit')) / (2 * sum('hit') + sum('wrong') + sum('missed'));
}

function figureOf(what: string, judged: Judged[], given: { target?: number; only?: Set<string> }): Figure {
  const counts = judged.map((one) => countsOf(one, given.only));
  const score = f1(counts);
  const total = (name: keyof Counts): number => counts.reduce((sum, one) => sum + one[name], 0);
  const [low, high] = interval(counts);
  return {
    what,
    ours: `${score.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] (${total('hit')} right, ${total('wrong')} wrong, ${total('missed')} missed, ${judged.length} documents)`,
    target: given.target === undefined ? '' : `≥ ${given.target}`,
    met: given.target === undefined ? undefined : score >= given.target,
    peer: '',
  };
}

/** 95 % by 1,000 draws of documents with replacement. */
function interval(counts: Counts[]): [number, number] {
  const random = seeded(2);
  const scores = Array.from({ length: 1_000 }, () =>
    f1(counts.map(() => counts[Math.floor(random() * counts.length)]!)),
  ).toSorted((a, b) => a - b);
  return [scores[25]!, scores[975]!];
}

function commonest(reports: Report[], count: number): Set<string> {
  const byLabel = new Map<string, number>();
  for (const { techniques } of reports) for (const id of techniques) byLabel.set(id, (byLabel.get(id) ?? 0) + 1);
  return new Set(
    [...byLabel]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([id]) => id),
  );
}

function listErrors(judged: Judged[]): void {
  const wrong = new Map<string, number>();
  const missed = new Map<string, number>();
  for (const { gold, found } of judged) {
    for (const id of found) if (!gold.has(id)) wrong.set(id, (wrong.get(id) ?? 0) + 1);
    for (const id of gold) if (!found.has(id)) missed.set(id, (missed.get(id) ?? 0) + 1);
  }
  const top = (counts: Map<string, number>): string =>
    [...counts]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, 15)
      .map(([id, count]) => `${id} ${count}`)
      .join(', ');
  console.log(`wrong most often: ${top(wrong)}\nmissed most often: ${top(missed)}`);
}
