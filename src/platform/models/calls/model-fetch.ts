const bytesMax = 8 * 1024 * 1024;

/** The fetch of every provider. Rejects redirects, so that prompts reach only the configured address, and responses over 8 MiB. */
export const modelFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limitBytes()), { status, statusText, headers });
};

function limitBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > bytesMax) controller.error(new Error(`the response is larger than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
