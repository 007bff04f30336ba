import type { RenderedRow } from '../../analysis/candidate.ts';

const instructionPatterns = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|task|context)/i,
  /\b(?:you are|act as|pretend to be|role-?play)\b.{0,30}\b(?:an?|the|now)\b/i,
  /\b(?:system|developer|assistant|user)\s*(?:prompt|message|:|>)/i,
  /<\/?(?:system|instructions?|data|rows?|tool)\b|\[\/?inst\]|<\|/i,
  /\b(?:mark|treat|classify|report|label|consider|rate)\b.{0,40}\b(?:benign|safe|harmless|normal|expected|false positive|not triggered|triggered)/i,
  /\b(?:do not|don't|never)\b.{0,20}\b(?:alert|report|flag|mention|trigger|escalate|tell)/i,
  /\b(?:call|use|invoke|run)\b.{0,20}\b(?:tool|function|submit_verdict|search_siem|http_get)\b/i,
  /^\s*(?:please|kindly|what|who|how|why|when|write|tell|explain|give|provide|list|create|describe|translate|summarize|reply|respond|answer|repeat)\b.{12,}/i,
];

export type PlantedInstruction = { rowId: string; field: string };

const foundMax = 20;

/** Finds up to 20 fields whose text seems to be addressed to a model. This is only a hint for people and for the score. */
export function findPlantedInstructions(rows: readonly RenderedRow[]): PlantedInstruction[] {
  const found: PlantedInstruction[] = [];
  for (const { rowId, fields } of rows) {
    for (const [field, value] of Object.entries(fields)) {
      if (found.length === foundMax) return found;
      if (value.length >= 12 && value.includes(' ') && instructionPatterns.some((pattern) => pattern.test(value)))
        found.push({ rowId, field });
    }
  }
  return found;
}
