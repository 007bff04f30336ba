import type { HitStatus } from '../../api/hits.ts';
import { countOf } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { FloatingBar } from '../../ui/overlays/floating-bar.tsx';
import { OpenIncident } from './open-incident.tsx';
import { StatusBar } from './status-bar.tsx';

type Props = {
  count: number;
  /** The selected hits, if all of them are loaded. */
  hitIds: string[] | undefined;
  /** Set if more hits can be selected than are loaded. */
  more: { count: number; onSelect: () => void } | undefined;
  pending: HitStatus | null;
  onChoose: (status: HitStatus | null) => void;
  onSave: (status: HitStatus, reason: string) => void;
  onClear: () => void;
};

/** The decisions about all selected hits. */
export function BulkBar({ count, hitIds, more, pending, onChoose, onSave, onClear }: Props) {
  return (
    <FloatingBar label={texts.bulk.selected(countOf(count, 'hit'))}>
      {more && !pending && (
        <Button kind="quiet" onClick={more.onSelect}>
          {texts.bulk.all(countOf(more.count, 'hit'))}
        </Button>
      )}
      <StatusBar current={undefined} pending={pending} onChoose={onChoose} onSave={onSave} />
      {hitIds && !pending && <OpenIncident hitIds={hitIds} />}
      {!pending && (
        <Button kind="quiet" onClick={onClear}>
          {texts.bulk.clear}
        </Button>
      )}
    </FloatingBar>
  );
}
