import {
  readProcedures,
  readReports,
  type TrainingExample,
  type LabelledReport,
} from '../../scripts/techniques/examples.ts';
import { packModel } from '../../scripts/techniques/pack-model.ts';
import { createRandom } from '../../scripts/techniques/svm.ts';
import { trainModel } from '../../scripts/techniques/train-model.ts';
import { findBestSentences, extractTechniques } from '../../src/feed/extraction/techniques/extract-techniques.ts';
import { unpackLinearModel, type LinearModel } from '../../src/feed/extraction/classifier/linear-model.ts';
import { findSentences } from '../../src/feed/extraction/text/sentence-spans.ts';
import { useInstalledAttack } from '../../src/feed/reference-data/attack.ts';
import { requireData } from '../recorded-inputs.ts';
import { readRecordedAttack } from './recorded-lists.ts';
import type { QualityFigure } from '../figures.ts';

const folds = 5;
const weightsMax = 420_000;

type Counts = { hit: number; wrong: number; missed: number };
/** The labels of a test document that occur in training: gold, and found with shipped data, installed data and the classifier alone. */
type FoldResult = { gold: Set<string>; found: Set<string>; large: Set<string>; alone: Set<string> };

/** Measures the micro-F1 over documents in 5 folds. The threshold is chosen inside each training fold. */
export async function measureTechniques(verbose: boolean): Promise<QualityFigure[]> {
  const dir = requireData();
  const reports = readReports(dir);
  const procedures = readProcedures(dir);
  const common = listCommonest(reports, 50);
  const figures: QualityFigure[] = [];
  const settings: [string, TrainingExample[]][] = [
    ['with ATT&CK sentences', procedures],
    ['without ATT&CK sentences', []],
  ];
  for (const [name, extra] of settings) {
    const judged = crossValidate(reports, extra);
    const withInstalled = judged.map((result) => ({ ...result, found: result.large }));
    for (const [lists, results] of Object.entries({ 'shipped lists': judged, 'installed lists': withInstalled })) {
      const frequent = `techniques, 50 most common labels, ${name}, ${lists}`;
      figures.push(createScoreFigure(`techniques, all labels, ${name}, ${lists}`, results, { target: 0.66 }));
      figures.push(createScoreFigure(frequent, results, { target: 0.69, only: common }));
    }
    const alone = judged.map((result) => ({ ...result, found: result.alone }));
    figures.push(createScoreFigure(`classifier alone, all labels, ${name}`, alone, {}));
    if (verbose) listErrors(judged);
  }
  return figures;
}

function crossValidate(reports: LabelledReport[], extra: TrainingExample[]): FoldResult[] {
  const random = createRandom(1);
  const order = reports.map((report) => ({ report, at: random() })).toSorted((a, b) => a.at - b.at);
  const foldOf = new Map(order.map(({ report }, index) => [report.id, index % folds]));
  const judged: FoldResult[] = [];
  for (let fold = 0; fold < folds; fold += 1) {
    const training = reports.filter(({ id }) => foldOf.get(id) !== fold);
    const seen = new Set(training.flatMap(({ examples }) => examples.flatMap(({ labels }) => labels)));
    const threshold = chooseThreshold(training, extra);
    const model = buildModel(training, extra, threshold);
    const known = (ids: string[]): Set<string> => new Set(ids.filter((id) => seen.has(id)));
    const read = (text: string): Set<string> =>
      known(extractTechniques(text, { model }).map(({ technique }) => technique.id));
    const tested = reports.filter(({ id }) => foldOf.get(id) === fold);
    useInstalledAttack(readRecordedAttack());
    const large = new Map(tested.map(({ id, text }) => [id, read(text)]));
    useInstalledAttack(undefined);
    for (const report of tested) {
      judged.push({
        gold: known(report.techniques),
        found: read(report.text),
        large: large.get(report.id)!,
        alone: known([...findBestSentences(findSentences(report.text), model).keys()]),
      });
    }
    console.log(`fold ${fold + 1} of ${folds}: ${seen.size} labels, threshold ${threshold.toFixed(2)}`);
  }
  return judged;
}

/** Builds a model in the shipped form: pruned and quantized. */
function buildModel(training: LabelledReport[], extra: TrainingExample[], threshold: number): LinearModel {
  const examples = training.flatMap((report) => report.examples);
  const labels = [...new Set(examples.flatMap((example) => example.labels))].toSorted();
  const trained = trainModel([...examples, ...extra], labels, { examplesMin: 1, threshold: () => threshold });
  return unpackLinearModel(packModel(trained, weightsMax));
}

/** Returns the threshold with the best score on a quarter of the training documents, using a model of the rest. */
function chooseThreshold(training: LabelledReport[], extra: TrainingExample[]): number {
  const validation = training.filter((_, index) => index % 4 === 0);
  const model = buildModel(
    training.filter((_, index) => index % 4 !== 0),
    extra,
    -9,
  );
  const seen = new Set(model.labels);
  const scored = validation.map((report) => ({
    gold: new Set(report.techniques.filter((id) => seen.has(id))),
    best: findBestSentences(findSentences(report.text), model),
  }));
  let best = { threshold: 0, score: -1 };
  for (let threshold = -1.2; threshold < 0.4; threshold += 0.05) {
    const judged = scored.map(({ gold, best: margins }) => ({
      gold,
      found: new Set([...margins].filter(([, { margin }]) => margin >= threshold).map(([label]) => label)),
    }));
    const score = calculateF1(judged.map((one) => countMatches(one)));
    if (score > best.score) best = { threshold, score };
  }
  return best.threshold;
}

function countMatches({ gold, found }: { gold: Set<string>; found: Set<string> }, only?: Set<string>): Counts {
  const counted = (ids: Set<string>): string[] => [...ids].filter((id) => !only || only.has(id));
  const hit = counted(found).filter((id) => gold.has(id)).length;
  return { hit, wrong: counted(found).length - hit, missed: counted(gold).length - hit };
}

function calculateF1(counts: Counts[]): number {
  const sum = (name: keyof Counts): number => counts.reduce((total, one) => total + one[name], 0);
  return (2 * sum('hit')) / (2 * sum('hit') + sum('wrong') + sum('missed'));
}

function createScoreFigure(
  what: string,
  judged: FoldResult[],
  { target, only }: { target?: number; only?: Set<string> },
): QualityFigure {
  const counts = judged.map((one) => countMatches(one, only));
  const score = calculateF1(counts);
  const total = (name: keyof Counts): number => counts.reduce((sum, one) => sum + one[name], 0);
  const [low, high] = interval(counts);
  return {
    name: what,
    measured: `${score.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] (${total('hit')} right, ${total('wrong')} wrong, ${total('missed')} missed, ${judged.length} documents)`,
    ...(target === undefined ? {} : { target: `≥ ${target}`, isMet: score >= target }),
  };
}

/** Returns the 95 % interval by a bootstrap with 1,000 draws of documents. */
function interval(counts: Counts[]): [number, number] {
  const random = createRandom(2);
  const scores = Array.from({ length: 1_000 }, () =>
    calculateF1(counts.map(() => counts[Math.floor(random() * counts.length)]!)),
  ).toSorted((a, b) => a - b);
  return [scores[25]!, scores[975]!];
}

function listCommonest(reports: LabelledReport[], count: number): Set<string> {
  const byLabel = new Map<string, number>();
  for (const { techniques } of reports) for (const id of techniques) byLabel.set(id, (byLabel.get(id) ?? 0) + 1);
  return new Set(
    [...byLabel]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([id]) => id),
  );
}

function listErrors(judged: FoldResult[]): void {
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
