import { listTechniques, findTechnique } from '../../../feed/reference-data/attack.ts';
import type { DetectionDraft } from '../draft.ts';
import type { LogDataset } from '../log-kinds.ts';
import { listTechniqueIds, type LibraryEntry, loadLibrary } from '../../../detection/library/load-library.ts';
import { compileTemplate } from '../templates/compile-template.ts';
import { queryTemplates } from '../templates/query-templates.ts';

/** A draft that matches an intent. `matched` lists the matching techniques and words. */
type IntentMatch = { draft: DetectionDraft; matched: string[]; score: number };

const techniquePattern = /\bT\d{4}(?:\.\d{3})?\b/gi;
const stopWords = new Set(
  'a about after all also an and any are as at be been by can detect detection find finds for from has have how i if in into is it its know like look looking me my of on one or our out over see show so some somebody someone something somewhere tell than that the their them there these they this to use used uses using want was we what when where which who will with without would you your'.split(
    ' ',
  ),
);
const exactTechniqueScore = 100;
const techniqueFamilyScore = 60;
/** The score of about two rare words. */
const scoreMin = 5;

/** Returns the IDs of the techniques that a text mentions by ID or by ATT&CK name. */
export function findTechniquesInText(text: string): string[] {
  const byId = (text.match(techniquePattern) ?? []).flatMap((id) => findTechnique(id)?.id ?? []);
  const words = ` ${splitWords(text).join(' ')} `;
  const byName = listTechniques().filter((technique) => {
    const name = splitWords(technique.name).join(' ');
    // Short everyday words such as Tool, Domains, and Server are technique names too, but do not count as a mention.
    return name.length >= 8 && words.includes(` ${name} `);
  });
  return [...new Set([...byId, ...byName.map(({ id }) => id)])];
}

/** A shipped detection or query template. `draft` takes the matching technique, or null for the default one. */
type DraftSource = { techniques: readonly string[]; draft: (techniqueId: string | null) => DetectionDraft };

/** Returns the shipped detections and query templates that match an intent and have their logs, best match first. */
export function matchIntent(intent: string, datasets: readonly LogDataset[]): IntentMatch[] {
  const requested = findTechniquesInText(intent);
  const sources = [...listShippedSources(datasets), ...listTemplateSources(datasets)];
  const stems = sources.map(({ draft, techniques }) => listStems(draft(null).body, techniques));
  const words = [...new Set(splitWords(intent.replaceAll(techniquePattern, '')).map(toStem))].filter(
    (word) => !stopWords.has(word),
  );
  const rarity = (word: string): number =>
    Math.log((1 + sources.length) / stems.filter((sourceStems) => sourceStems.has(word)).length);
  return sources
    .map(({ techniques, draft }, n): IntentMatch => {
      const exact = requested.find((id) => techniques.includes(id));
      const technique = exact ?? requested.find((id) => techniques.some((own) => own.startsWith(`${id}.`)));
      const techniqueScore = exact ? exactTechniqueScore : technique ? techniqueFamilyScore : 0;
      const sharedWords = words.filter((word) => stems[n]!.has(word));
      const score = sharedWords.reduce((sum, word) => sum + rarity(word), 0) + techniqueScore;
      return { draft: draft(exact ?? null), matched: [...(technique ? [technique] : []), ...sharedWords], score };
    })
    .filter(({ score, matched }) => score >= scoreMin && (score >= techniqueFamilyScore || matched.length >= 2))
    .toSorted((a, b) => b.score - a.score);
}

const listShippedSources = (datasets: readonly LogDataset[]): DraftSource[] =>
  listReadableDetections(datasets).map((detection) => {
    const techniques = listTechniqueIds(detection);
    return { techniques, draft: (id) => draftShippedDetection(detection, id ?? techniques[0] ?? null) };
  });

const listTemplateSources = (datasets: readonly LogDataset[]): DraftSource[] =>
  queryTemplates.flatMap((template) =>
    datasets.flatMap((dataset): DraftSource[] => {
      const { techniques } = template;
      if (!compileTemplate(template, dataset, techniques[0]!)) return [];
      return [{ techniques, draft: (id) => compileTemplate(template, dataset, id ?? techniques[0]!)! }];
    }),
  );

/** Returns the datasets that shipped detections for the intent's techniques read and that the organization does not have. */
export function listMissingDatasets(intent: string, datasets: readonly LogDataset[]): string[] {
  const existing = new Set(datasets.map(({ name }) => name));
  const detections = listDetectionsFor(findTechniquesInText(intent));
  const needed = detections.flatMap((entry) => Object.keys(entry.datasets));
  return [...new Set(needed)].filter((name) => !existing.has(name));
}

/** Returns the stems of a draft's own words and of its techniques' names. */
const listStems = ({ name, description, tags }: DetectionDraft['body'], techniques: readonly string[]): Set<string> => {
  const techniqueNames = techniques.map((id) => findTechnique(id)?.name ?? '');
  return new Set(splitWords([name, description ?? '', ...(tags ?? []), ...techniqueNames].join(' ')).map(toStem));
};

const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];

/** Removes plural and past-tense endings, so that different forms of a word match. */
function toStem(word: string): string {
  return word.length > 4 ? word.replace(/(ies|ing|ed|es|s)$/, '').replace(/(e|y)$/, '') : word;
}

/** Returns the shipped detections whose datasets all exist. */
export function listReadableDetections(datasets: readonly LogDataset[]): LibraryEntry[] {
  const names = new Set(datasets.map(({ name }) => name));
  return [...loadLibrary().values()].filter((entry) => Object.keys(entry.datasets).every((name) => names.has(name)));
}

/** Returns the shipped detections for any of some techniques. */
const listDetectionsFor = (techniques: readonly string[]): LibraryEntry[] =>
  [...loadLibrary().values()].filter((entry) => listTechniqueIds(entry).some((id) => techniques.includes(id)));

/** Returns a draft of a shipped detection for one of its techniques. */
export const draftShippedDetection = (entry: LibraryEntry, technique: string | null): DetectionDraft => ({
  key: `shipped:${entry.id}`,
  basis: { kind: 'shipped', id: entry.id },
  technique,
  reads: Object.keys(entry.datasets)[0]!,
  body: entry.body,
  tests: entry.tests.tests,
});
