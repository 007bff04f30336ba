import { useMutation, useQueryClient } from '@tanstack/react-query';
import { changeDetections } from '../../../api/detections.ts';
import { toIfMatch, type Versioned } from '../../../api/versions.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts } from '../../../texts/detections.ts';
import { Button } from '../../../ui/button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

type Action = 'enable' | 'disable';
const reports: Record<Action, (count: number) => string> = { enable: texts.bulk.enabled, disable: texts.bulk.disabled };
const opposite: Record<Action, Action> = { enable: 'disable', disable: 'enable' };

/** `seen` has the selected detections as the user sees them, as far as the list has them. */
type Props = { ids: ReadonlySet<string>; seen: readonly (Versioned & { id: string })[]; onDone: () => void };
type Change = { action: Action; of: string[]; ifMatch?: Record<string, string> };

/** The actions for the selected detections. */
export function BulkBar({ ids, seen, onDone }: Props) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: ({ action, of, ifMatch = {} }: Change) => changeDetections(action, of, ifMatch),
    onSuccess: (results, { action }) => {
      void client.invalidateQueries({ queryKey: ['detections'] });
      const changed = results.flatMap(({ id, outcome }) => (outcome === 'changed' && id !== null ? [id] : []));
      const failed = results.filter(({ outcome, stale }) => outcome === 'failed' && !stale);
      toasts.add({
        title: changed.length === 0 ? texts.bulk.notChanged : reports[action](changed.length),
        ...(failed.length > 0 && {
          description: `${texts.bulk.failed(failed.length)} ${failed[0]!.detail ?? ''}`,
          isError: true,
        }),
        ...(changed.length > 0 && {
          action: { label: common.undo, run: () => mutate({ action: opposite[action], of: changed }) },
        }),
      });
      onDone();
    },
    onError: (error) => toasts.add({ title: texts.bulk.notChanged, description: error.message, isError: true }),
  });
  const ifMatch = Object.fromEntries(seen.map((detection) => [detection.id, toIfMatch(detection)]));
  return (
    <div
      role="toolbar"
      aria-label={texts.bulk.selected(ids.size)}
      className="absolute bottom-4 left-1/2 z-20 flex -translate-x-1/2 animate-[appear_140ms] items-center gap-2 rounded-control bg-raised p-1.5 pl-3 shadow-float"
    >
      <span className="tabular mr-2 whitespace-nowrap">{texts.bulk.selected(ids.size)}</span>
      {(['enable', 'disable'] as const).map((action) => (
        <Button key={action} disabled={isPending} onClick={() => mutate({ action, of: [...ids], ifMatch })}>
          {texts.bulk[action]}
        </Button>
      ))}
      <Button kind="quiet" onClick={onDone}>
        {texts.bulk.clear}
      </Button>
    </div>
  );
}
