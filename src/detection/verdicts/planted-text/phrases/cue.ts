/** A kind of text addressed to a model, and the pattern that shows it in the lowercase words of a text. Every match contains an anchor. */
export type StrongCue = { cue: PlantedCue; pattern: RegExp; anchors: string[] };

/** Why a text seems addressed to a model. */
export type PlantedCue =
  | 'override'
  | 'role'
  | 'reply'
  | 'verdict'
  | 'accusation'
  | 'markup'
  | 'request'
  | 'sentence'
  | 'code';

/** Expands `alert/s` to `alert` and `alerts`, the suffixes being alternatives to none. */
const expand = (word: string): string[] => {
  const [stem = '', ...suffixes] = word.split('/');
  return [stem, ...suffixes.map((suffix) => `${stem}${suffix}`)];
};

/** Creates a cue. `anchors` are words with optional suffixes, `source` a pattern over words joined with spaces. */
export const cue = (name: PlantedCue, anchors: string, source: string): StrongCue => ({
  cue: name,
  pattern: new RegExp(source, 'u'),
  anchors: anchors.split(' ').flatMap(expand),
});
