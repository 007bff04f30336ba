import { texts } from '../texts/common.ts';

/** The ID that the service's log has for a failed request. A click selects it. */
export function RequestId({ id }: { id: string }) {
  return (
    <p className="text-12 text-muted">
      {texts.requestId} <span className="font-mono break-all select-all">{id}</span>
    </p>
  );
}
