import { listTechniques, findTechnique } from '../../../feed/reference-data/attack.ts';
import type { Draft } from '../draft.ts';
import type { Dataset } from './log-datasets.ts';
import { allShipped, readableShipped, shippedDraft, techniquesOf } from './shipped-drafts.ts';
import { compileTemplate } from '../templates/compile-template.ts';
import { templates } from '../templates/registry.ts';

/** A draft that fits an intent: `matched` says by what, techniques and words. */
export type Fitting = { draft: Draft; matched: string[]; score: number };

const technique = /\bT\d{4}(?:\.\d{3})?\b/gi;
const emptyWords = new Set(
  'a about after all also an and any are as at be been by can detect detection find finds for from has have how i if in into is it its know like look looking me my of on one or our out over see show so some somebody someone something somewhere tell than that the their them there these they this to use used uses using want was we what when where which who will with without would you your'.split(
    ' ',
  ),
);
const exact = 100;
const family = 60;
/** Two rare words, or a technique. */
const scoreMin = 5;

/** Ids of the techniques that an intent names, by id or by ATT&CK's name of them. */
export function techniquesIn(intent: string): string[] {
  const byId = (intent.match(technique) ?? []).flatMap((id) => findTechnique(id)?.id ?? []);
  const words = ` ${wordsOf(intent).join(' ')} `;
  const byName = listTechniques().filter(({ name }) => {
    const own = wordsOf(name);
    // One short everyday word (Tool, Domains, Server) is no name of a technique.
    return own.join(' ').length >= 8 && words.includes(` ${own.join(' ')} `);
  });
  return [...new Set([...byId, ...byName.map(({ id }) => id)])];
}

/** Shipped detections and query templates that fit an intent and that the organization has the logs for, the best first. */
export function fittingDrafts(intent: string, datasets: readonly Dataset[]): Fitting[] {
  const asked = techniquesIn(intent);
  const shipped = readableShipped(datasets).map((one) => ({
    techniques: techniquesOf(one),
    draft: (id: string | null) => shippedDraft(one, id ?? techniquesOf(one)[0] ?? null),
  }));
  const made = templates.flatMap((template) =>
    datasets.flatMap((dataset) =>
      compileTemplate(template, dataset, template.techniques[0]!)
        ? [
            {
              techniques: template.techniques,
              draft: (id: string | null) => compileTemplate(template, dataset, id ?? template.techniques[0]!)!,
            },
          ]
        : [],
    ),
  );
  const all = [...shipped, ...made];
  const stems = all.map((one) => stemsOf(one.draft(null).body, one.techniques));
  const words = [...new Set(wordsOf(intent.replaceAll(technique, '')).map(stem))].filter(
    (word) => !emptyWords.has(word),
  );
  return all
    .map(({ techniques, draft }, n): Fitting => {
      const hit = asked.find((id) => techniques.includes(id));
      const kin = hit ?? asked.find((id) => techniques.some((own) => own.startsWith(`${id}.`)));
      const shared = words.filter((word) => stems[n]!.has(word));
      const rarity = (word: string): number => Math.log((1 + all.length) / stems.filter((own) => own.has(word)).length);
      const score = shared.reduce((sum, word) => sum + rarity(word), 0) + (hit ? exact : kin ? family : 0);
      return { draft: draft(hit ?? null), matched: [...(kin ? [kin] : []), ...shared], score };
    })
    .filter(({ score, matched }) => score >= scoreMin && (score >= family || matched.length >= 2))
    .toSorted((a, b) => b.score - a.score);
}

/** Datasets that the best shipped detection for an intent reads and the organization has not. */
export function missingFor(intent: string, datasets: readonly Dataset[]): string[] {
  const names = new Set(datasets.map(({ name }) => name));
  const asked = techniquesIn(intent);
  const wanted = allShipped.filter((one) => techniquesOf(one).some((id) => asked.includes(id)));
  return [...new Set(wanted.flatMap(({ dataset, alsoReads = [] }) => [dataset, ...alsoReads]))].filter(
    (name) => !names.has(name),
  );
}

/** A draft is found by its own words and by the names of its techniques, which say in general what it finds. */
const stemsOf = ({ name, description, tags }: Draft['body'], techniques: readonly string[]): Set<string> => {
  const named = techniques.map((id) => findTechnique(id)?.name ?? '');
  return new Set(wordsOf([name, description ?? '', ...(tags ?? []), ...named].join(' ')).map(stem));
};

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];

/** Enough of a stem for a word and its plural or past to meet. */
function stem(word: string): string {
  return word.length > 4 ? word.replace(/(ies|ing|ed|es|s)$/, '').replace(/(e|y)$/, '') : word;
}
