/** A reply in the provider's protocol: text and tool calls, or a refusal. `end` is why the model stopped, if not by itself. */
export type StreamedReply =
  | {
      text?: string;
      calls?: { name: string; input: unknown; raw?: string }[];
      end?: 'length';
      /** `input` includes `cached` and `cacheWritten`. */
      usage?: TokenCounts | null;
    }
  | { refuse: true };
export type TokenCounts = { input: number; output: number; cached?: number; cacheWritten?: number };

export type Turn = { role: string; text: string };
/** `forced` is the tool that must be called, or the schema that the text must match. */
export type ProtocolRequest = { system: string; turns: Turn[]; tools: string[]; forced: string | undefined };
export type Json = ReturnType<typeof JSON.parse>;

/** How a provider's requests are read and its responses written. `document` is the response without a stream. */
export type WireProtocol = {
  read: (body: Json, path: string) => ProtocolRequest;
  stream: (reply: StreamedReply) => (string | Buffer)[];
  document?: (reply: StreamedReply) => Json;
  contentType?: string;
};

export const textOf = (content: Json): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: Json) => part.text ?? part.output ?? textOf(part.content ?? '')).join('')
      : '';

export function splitSystem(turns: Turn[]): { system: string; turns: Turn[] } {
  const isSystem = ({ role }: Turn): boolean => role === 'system' || role === 'developer';
  const texts = turns.filter(isSystem).map(({ text }) => text);
  return { system: texts.join(''), turns: turns.filter((turn) => !isSystem(turn)) };
}

export const defaultUsage: TokenCounts = { input: 100, output: 20 };
export const callId = (index: number): string => `call_${index}_${Math.random().toString(36).slice(2)}`;
export const argsOf = (call: { input: unknown; raw?: string }): string => call.raw ?? JSON.stringify(call.input);

/** Splits a text into pieces, as a model streams it. */
export const pieces = (text: string): string[] => text.match(/[\s\S]{1,40}/g) ?? [];

/** Returns the tool that a request demands: the one that it names, or the only one. */
export const demanded = (name: string | undefined, isAny: boolean, tools: string[]): string | undefined =>
  name ?? (isAny && tools.length === 1 ? tools[0] : undefined);
