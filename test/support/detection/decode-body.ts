import { createDecoder, type ShipperFormat } from '../../../src/detection/shippers/formats/shipper-format.ts';

type Decoded = { item: number; dataset: string; event: unknown; id?: string; time?: string };

/** Decodes a body in slices of a size, by default a fiftieth of it. Events are their values, rejected ones their reasons. */
export function decodeBody(
  format: ShipperFormat,
  body: string | Uint8Array,
  sliceBytes = Math.ceil(body.length / 50) || 1,
): Decoded[] {
  const decoder = createDecoder(format);
  const bytes = Buffer.from(body as string);
  const decoded: Decoded[] = [];
  const collect = (events: ReturnType<typeof decoder.push>): void => {
    for (const { item, dataset, event, explicitId } of events) {
      if (typeof event === 'string') decoded.push({ item, dataset, event });
      else {
        expectOneLine(event.text);
        const time = event.timeMicros === undefined ? {} : { time: new Date(event.timeMicros / 1000).toISOString() };
        const id = explicitId === undefined ? {} : { id: explicitId };
        decoded.push({ item, dataset, event: JSON.parse(event.text), ...id, ...time });
      }
    }
  };
  for (let at = 0; at < bytes.length; at += sliceBytes) collect(decoder.push(bytes.subarray(at, at + sliceBytes)));
  collect(decoder.end());
  return decoded;
}

function expectOneLine(text: string): void {
  if (/[\t\n\r]/.test(text)) throw new Error('An event must be one line without tabs.');
}
