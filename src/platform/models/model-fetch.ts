const bytesMax = 8 * 1024 * 1024;

/**
 * The fetch that every provider is given: a redirect is an error, so that a prompt goes to the address of the settings and
 * nowhere else, and an answer that does not end is cut off at 8 MiB.
 */
export const modelFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limited()), { status, statusText, headers });
};

function limited(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > bytesMax) controller.error(new Error(`the answer is larger than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
