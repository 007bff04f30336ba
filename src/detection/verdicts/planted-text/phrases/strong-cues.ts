import type { PlantedCue, StrongCue } from './cue.ts';
import { orderCues } from './order-cues.ts';
import { verdictCues } from './verdict-cues.ts';

const cuesByAnchor = Map.groupBy(
  [...orderCues, ...verdictCues].flatMap((strong) => strong.anchors.map((anchor) => ({ anchor, strong }))),
  ({ anchor }) => anchor,
);

/** Returns the first strong cue in words that `joined` contains, joined with spaces. */
export function findStrongCue(words: Iterable<string>, joined: string): PlantedCue | undefined {
  const tried = new Set<StrongCue>();
  for (const word of words) {
    for (const { strong } of cuesByAnchor.get(word) ?? []) {
      if (tried.has(strong)) continue;
      tried.add(strong);
      if (strong.pattern.test(joined)) return strong.cue;
    }
  }
  return undefined;
}

const turn = '(?:system|developer|assistant|human|ai|llm|model|instructions?)';
/** Chat markup and delimiters, searched in the folded text itself. */
export const markup: readonly RegExp[] = [
  /<\|[a-z_ ]{2,30}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?s>\s*\[|<(?:start|end)_of_turn>|\[\/?(?:SYSTEM|ASSISTANT|USER|PROMPT)\]/i,
  /<\/?(?:assistant|instructions|tool_(?:result|use|call|response)s?|function_(?:call|result)s?|untrusted_data|user_input|im_start|im_end|thinking)>/i,
  /<\/?(?:system|human|prompt|data|rows?)>\s*(?:[a-z']+\s+){2}[a-z]/i,
  /#{2,}\s*(?:instructions?|system|response|assistant|human|prompt|input|output|task|new instructions?)\b\s*:?/i,
  new RegExp(`(?:^|\\n)\\s*${turn}\\s*:\\s*(?:\\S+\\s+){2}\\S`, 'i'),
  /"role"\s*:\s*"(?:system|assistant|developer|tool)"/i,
  /(?:^|\n)\s*(?:human|user|q)\s*:[^\n]{3,200}\n+\s*(?:assistant|ai|bot|a)\s*:/i,
  /"triggered"\s*:\s*(?:true|false)/i,
];
