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
  /** The sentence with the strongest evidence. */
  sentence: Span;
};

const idConfidence = 0.95;
const nameConfidence = 0.8;

/**
 * Extracts the techniques that a text states by id or name, or that a linear sentence classifier recognizes. Sorted by confidence
 * (0 to 1), highest first.
 */
export function extractTechniques(text: string, model: TechniqueModel = getShippedModel()): ExtractedTechnique[] {
  const sentences = findSentences(text);
  const found = new Map<string, ExtractedTechnique>();
  const add = (candidate: ExtractedTechnique): void => {
    const known = found.get(candidate.technique.id);
    if (!known || candidate.confidence > known.confidence) found.set(candidate.technique.id, candidate);
  };
  for (const [label, best] of findBestSentences(text, sentences, model)) {
    const technique = findTechnique(label);
    if (technique)
      add({ technique, confidence: toConfidence(best.margin - best.threshold), by: 'sentence', sentence: best.span });
  }
  for (const mention of [...findTechniqueIds(text), ...findTechniqueNames(text)]) {
    const sentence = findSentence(sentences, mention.span);
    add({
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

/** Returns the sentence with the largest margin per label, if the margin reaches the label's threshold. */
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

/** Converts the margin above the threshold to a confidence: 0.5 at the threshold, 0.88 at 1 above it. */
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
