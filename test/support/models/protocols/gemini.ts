import { defaultUsage, demanded, pieces, type Json, type WireProtocol } from './wire-protocol.ts';

const textOf = (parts: Json[] = []): string =>
  parts.map((part) => part.text ?? JSON.stringify(part.functionResponse?.response ?? '')).join('');

/** The content of Gemini, in which tool calls come whole. */
export const gemini: WireProtocol = {
  read: (body) => {
    const tools: string[] = (body.tools ?? []).flatMap((tool: Json) =>
      (tool.functionDeclarations ?? []).map(({ name }: Json) => name),
    );
    const config = body.toolConfig?.functionCallingConfig;
    const schema = body.generationConfig?.responseSchema ?? body.generationConfig?.responseJsonSchema;
    return {
      system: textOf(body.systemInstruction?.parts),
      turns: body.contents.map((one: Json) => ({
        role: one.role === 'model' ? 'assistant' : one.role,
        text: textOf(one.parts),
      })),
      tools,
      forced:
        demanded(config?.allowedFunctionNames?.[0], config?.mode === 'ANY', tools) ?? (schema ? 'json' : undefined),
    };
  },
  stream: (reply) => {
    const chunk = (more: Json): string => `data: ${JSON.stringify({ ...more, modelVersion: 'stand-in-2026' })}\n\n`;
    const candidate = (parts: Json[], finishReason?: string): Json => ({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
    });
    if ('refuse' in reply) return [chunk(candidate([], 'SAFETY'))];
    const { text = '', calls = [], usage = defaultUsage, end } = reply;
    const counts = usage && {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
      ...(usage.cached ? { cachedContentTokenCount: usage.cached } : {}),
    };
    return [
      ...pieces(text).map((part) => chunk(candidate([{ text: part }]))),
      ...calls.map(({ name, input }) => chunk(candidate([{ functionCall: { name, args: input } }]))),
      chunk({ ...candidate([], end ? 'MAX_TOKENS' : 'STOP'), ...(counts ? { usageMetadata: counts } : {}) }),
    ];
  },
};
