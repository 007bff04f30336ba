import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { MoreHorizontal } from 'lucide-react';
import {
  changeDetection,
  deleteDetection,
  restoreDetection,
  runDetection,
  type Detection,
} from '../../../api/detections.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts } from '../../../texts/detection.ts';
import { Button } from '../../../ui/button.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

const { actions } = texts;

/** Runs, enables, disables, deletes and restores a detection. */
export function DetectionActions({ detection }: { detection: Detection }) {
  const { id, enabled, deletedAt, cronSchedule } = detection;
  const client = useQueryClient();
  const navigate = useNavigate();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['detections'] });
  const onError = ({ message }: Error): void =>
    void toasts.add({ title: actions.failed, description: message, isError: true });
  const enable = useMutation({
    mutationFn: (next: boolean) => changeDetection(detection, { enabled: next }),
    onSuccess: (_record, next) => {
      toasts.add({
        title: next ? actions.enabled : actions.disabled,
        action: { label: common.undo, run: () => enable.mutate(!next) },
      });
      return refresh();
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: (isDeleted: boolean) => (isDeleted ? restoreDetection(id) : deleteDetection(id)),
    onSuccess: (_record, isDeleted) => {
      if (!isDeleted)
        toasts.add({ title: actions.removed, action: { label: common.undo, run: () => remove.mutate(true) } });
      return refresh();
    },
    onError,
  });
  const run = useMutation({
    mutationFn: () => runDetection(id),
    onSuccess: ({ runId }) => {
      void client.invalidateQueries({ queryKey: ['runs', 'list', id] });
      void navigate({ to: '/runs/$id', params: { id: runId } });
    },
    onError,
  });
  if (deletedAt)
    return (
      <Button kind="primary" disabled={remove.isPending} onClick={() => remove.mutate(true)}>
        {actions.restore}
      </Button>
    );
  return (
    <>
      <Button disabled={run.isPending} onClick={() => run.mutate()}>
        {actions.run}
      </Button>
      <MenuButton
        label={common.more}
        align="end"
        className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
        entries={[
          {
            kind: 'action',
            label: enabled ? actions.disable : actions.enable,
            isDisabled: !enabled && cronSchedule === null,
            onSelect: () => enable.mutate(!enabled),
          },
          { kind: 'separator' },
          { kind: 'action', label: actions.remove, isDanger: true, onSelect: () => remove.mutate(false) },
        ]}
      >
        <MoreHorizontal className="size-4" aria-hidden />
      </MenuButton>
    </>
  );
}
