import type { NameKind } from '../../src/feed/extraction/names/dictionary/name-dictionary.ts';
import { isHeldOutAddress, readLabeledText, readLabels } from './labeled-texts.ts';

export type LabeledName = { kind: NameKind; name: string };
/** `target` is a name, a CVE, a sector of STIX or the code of a country. */
export type LabeledRelationship = { source: string; type: string; target: string };

/**
 * The facts in the opening of a public page, labeled from its text before the extraction was run on it. Values of `arguable…` are those that a
 * second reader may or may not label. They count neither as right nor as wrong.
 */
export type OpeningLabel = {
  address: string;
  publisher: string;
  names: LabeledName[];
  arguable?: LabeledName[];
  products?: string[];
  arguableProducts?: string[];
  relationships?: LabeledRelationship[];
  arguableRelationships?: LabeledRelationship[];
};
export type Opening = { label: OpeningLabel; text: string };
/** Openings of one label file. `isHeldOut`: the rules were written without them. */
export type OpeningHalf = { title: string; isHeldOut: boolean; openings: Opening[] };

const isHeldOut = ({ label: { address } }: Opening): boolean => isHeldOutAddress(address);

/** Nothing was trained with these texts, but their totals were read while the classifier was tuned. */
const classifierLabels = 'classifier-labels.json';
const labelFiles = [
  ['name-labels.json', 'openings of pages'],
  ['recent-labels.json', 'openings of 2024 to 2026'],
  ['passage-labels.json', 'passages of 2023 to 2026'],
  ['long-passage-labels.json', 'longer passages of 2022 to 2026'],
  ['news-labels.json', 'news of 2025 and 2026'],
  ['summary-labels.json', 'summaries of 2024 to 2026'],
  [classifierLabels, 'passages for the classifier'],
] as const;

/**
 * Reads the labeled openings whose text is in `folder`. Returns the halves that have a text.
 */
export function readOpenings(folder: string | undefined): OpeningHalf[] {
  return labelFiles
    .flatMap(([file, kind]) => {
      const openings = readLabels<OpeningLabel>(file).flatMap((label): Opening[] => {
        const text = readLabeledText(folder, label.address);
        return text === undefined ? [] : [{ label, text }];
      });
      if (file === classifierLabels) return [{ title: `${openings.length} ${kind}`, isHeldOut: false, openings }];
      const held = openings.filter(isHeldOut);
      const others = openings.filter((opening) => !held.includes(opening));
      return [
        { title: `half of rule writing, ${others.length} ${kind}`, isHeldOut: false, openings: others },
        { title: `held-out half, ${held.length} ${kind}`, isHeldOut: true, openings: held },
      ];
    })
    .filter(({ openings }) => openings.length > 0);
}
