import type { ModelRequestRecord } from './model-server.ts';

const charsPerToken = 4;
const tokensOf = (text: string): number => Math.ceil(text.length / charsPerToken);

type Block = { text: string; isMarked: boolean };
type Content = string | Record<string, unknown>[] | undefined;

/** How many blocks before a mark Anthropic searches for what an earlier request stored. */
const lookBack = 20;

/**
 * Simulates a provider's prompt cache, which holds prefixes of requests, byte for byte: tools, then the system prompt, then the messages. Returns
 * the usage of each request. With `needsMark`, only what ends at a `cache_control` mark is stored and found, as at Anthropic. Otherwise every
 * prefix is.
 */
export function createPromptCache({ needsMark }: { needsMark: boolean }) {
  const stored = new Set<string>();
  return ({ body }: ModelRequestRecord, output = 20) => {
    const blocks = listBlocks(body);
    const ends = blocks.map((_, index) =>
      blocks
        .slice(0, index + 1)
        .map(({ text }) => text)
        .join('\n'),
    );
    const marks = ends.flatMap((_, index) => (!needsMark || blocks[index]!.isMarked ? [index] : []));
    const found = marks.toReversed().flatMap((mark) => {
      const reachable = ends.slice(needsMark ? Math.max(0, mark - lookBack) : 0, mark + 1);
      return reachable.findLast((end) => stored.has(end)) ?? [];
    })[0];
    for (const mark of marks) stored.add(ends[mark]!);
    const cached = found === undefined ? 0 : tokensOf(found);
    const written = needsMark && marks.length > 0 ? tokensOf(ends[marks.at(-1)!]!) - cached : 0;
    const input = tokensOf(ends.at(-1)!);
    return { input, output, ...(cached ? { cached } : {}), ...(written > 0 ? { cacheWritten: written } : {}) };
  };
}

/** Returns the parts of a request in the protocol of Anthropic or of OpenAI's chat completions, in the order in which they are cached. */
function listBlocks(body: Record<string, unknown>): Block[] {
  const { tools = [], system, messages } = body as { tools?: unknown[]; system?: Content; messages: Message[] };
  return [
    { text: JSON.stringify(tools), isMarked: false },
    ...toBlocks('system', system),
    ...messages.flatMap(({ role, content, ...rest }) =>
      toBlocks(role, content).concat(
        Object.keys(rest).length > 0 ? { text: JSON.stringify(rest), isMarked: false } : [],
      ),
    ),
  ];
}

type Message = { role: string; content: Content };

const toBlocks = (role: string, content: Content): Block[] =>
  (typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])).map((part) => {
    const { cache_control: mark, ...block } = part as Record<string, unknown>;
    return { text: `${role} ${JSON.stringify(block)}`, isMarked: mark !== undefined };
  });
