import { useNavigate } from '@tanstack/react-router';
import { MoreHorizontal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { changeAgent, deleteAgent, restoreAgent, type Agent } from '../../../api/agents.ts';
import { texts } from '../../../texts/agents.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as detection } from '../../../texts/detection.ts';
import { Button } from '../../../ui/button.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';

const RunDialog = lazy(() => import('../../../ui/agents/run-dialog.tsx'));
const { actions } = detection;
const refresh = [['agents']];

/** Runs, deletes and restores a response agent, and turns its schedule on and off. */
export function AgentActions({ agent }: { agent: Agent }) {
  const { id, enabled, deletedAt, cronSchedule } = agent;
  const navigate = useNavigate();
  const [isRunning, setRunning] = useState(false);
  const enable = useChange({
    change: (next: boolean) => changeAgent(agent, { enabled: next }),
    refresh,
    done: (_record, next) => (next ? actions.enabled : actions.disabled),
    failed: actions.failed,
  });
  const restore = useChange({ change: () => restoreAgent(id), refresh, failed: actions.failed });
  const remove = useChange({
    change: () => deleteAgent(id),
    refresh,
    done: () => ({
      title: actions.removed,
      action: { label: common.undo, run: () => restore.mutate(undefined) },
    }),
    failed: actions.failed,
  });
  if (deletedAt)
    return (
      <Button kind="primary" disabled={restore.isPending} onClick={() => restore.mutate(undefined)}>
        {actions.restore}
      </Button>
    );
  return (
    <>
      <Button onClick={() => setRunning(true)}>{texts.run.action}</Button>
      <MenuButton
        label={common.more}
        align="end"
        className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
        entries={[
          {
            kind: 'action',
            label: enabled ? texts.disableSchedule : texts.enableSchedule,
            isDisabled: cronSchedule === null,
            onSelect: () => enable.mutate(!enabled),
          },
          { kind: 'separator' },
          { kind: 'action', label: actions.remove, isDanger: true, onSelect: () => remove.mutate(undefined) },
        ]}
      >
        <MoreHorizontal className="size-4" aria-hidden />
      </MenuButton>
      <Suspense>
        {isRunning && (
          <RunDialog
            agent={agent}
            onStarted={({ runId }) => void navigate({ to: '/runs/$id', params: { id: runId } })}
            onClose={() => setRunning(false)}
          />
        )}
      </Suspense>
    </>
  );
}
