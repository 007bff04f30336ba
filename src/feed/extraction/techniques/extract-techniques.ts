import { findTechnique, type Technique } from '../../reference-data/attack.ts';
import type { Span } from '../text/stored-text.ts';
import { hashFeatures, splitWords } from './sentence-features.ts';
import { findTechniqueIds, findTechniqueNames } from './technique-mentions.ts';
import { scoreTechniques, getShippedModel, type TechniqueModel } from './technique-model.ts';
import { findSentences } from '../text/sentence-spans.ts';

export type ExtractedTechnique = {
  technique: Technique;
  confidence: number;
  by: 'id' | 'name' | 'sentence';
  /** The sentence that speaks most for it. */
  sentence: Span;
};

const idConfidence = 0.95;
const nameConfidence = 0.8;

/**
 * Techniques of a text, each with the sentence it points at: stated by id, by name, or told in other words, which a linear
 * classifier of sentences recognises. `confidence` 0 to 1; the surest first.
 */
export function extractTechniques(text: string, model: TechniqueModel = getShippedModel()): ExtractedTechnique[] {
  const sentences = findSentences(text);
  const found = new Map<string, ExtractedTechnique>();
  const take = (made: ExtractedTechnique): void => {
    const known = found.get(made.technique.id);
    if (!known || made.confidence > known.confidence) found.set(made.technique.id, made);
  };
  for (const [label, best] of findBestSentences(text, sentences, model)) {
    const technique = findTechnique(label);
    if (technique)
      take({ technique, confidence: toConfidence(best.margin - best.threshold), by: 'sentence', sentence: best.span });
  }
  for (const mention of [...findTechniqueIds(text), ...findTechniqueNames(text)]) {
    const sentence = findSentence(sentences, mention.span);
    take({
      technique: mention.technique,
      confidence: mention.by === 'id' ? idConfidence : nameConfidence,
      by: mention.by,
      sentence,
    });
  }
  return [...found.values()].toSorted(
    (a, b) => b.confidence - a.confidence || (a.technique.id < b.technique.id ? -1 : 1),
  );
}

type BestSentence = { margin: number; threshold: number; span: Span };

/** By label: the sentence with the largest margin, where it reaches the label's threshold. */
export function findBestSentences(text: string, sentences: Span[], model: TechniqueModel): Map<string, BestSentence> {
  const margins = new Float32Array(model.labels.length);
  const most = new Float32Array(model.labels.length).fill(-Infinity);
  const at = new Int32Array(model.labels.length);
  for (const [index, { start, end }] of sentences.entries()) {
    const features = hashFeatures(splitWords(text.slice(start, end)));
    if (features.length < 4) continue;
    scoreTechniques(model, features, margins);
    for (let label = 0; label < margins.length; label += 1) {
      if (margins[label]! <= most[label]!) continue;
      most[label] = margins[label]!;
      at[label] = index;
    }
  }
  const best = new Map<string, BestSentence>();
  for (const [label, id] of model.labels.entries()) {
    const threshold = model.thresholds[label]!;
    if (most[label]! >= threshold) best.set(id, { margin: most[label]!, threshold, span: sentences[at[label]!]! });
  }
  return best;
}

/** A margin at the threshold is as good as a coin; one above it by 1 is nearly sure. */
const toConfidence = (above: number): number => Math.round(100 / (1 + Math.exp(-2 * above))) / 100;

function findSentence(sentences: Span[], span: Span): Span {
  let low = 0;
  let high = sentences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sentences[middle]!.end < span.end) low = middle + 1;
    else high = middle;
  }
  const sentence = sentences[low];
  return sentence && sentence.start <= span.start ? sentence : span;
}
