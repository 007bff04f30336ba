import { useQuery, useQueryClient } from '@tanstack/react-query';
import { MoreHorizontal } from 'lucide-react';
import { lazy, Suspense, useState, type Dispatch, type SetStateAction } from 'react';
import { changeTrigger, deleteTrigger, triggersQuery, type Agent, type Trigger } from '../../../api/agents.ts';
import { basePath } from '../../../lib/base-path.ts';
import { nameTrigger, texts as all } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeBlock } from '../../../ui/code/code-block.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Badge, Loaded, Row, Rows } from '../../../ui/lists/rows.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { EmptyState } from '../../../ui/states.tsx';

const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));
const SecretDialog = lazy(() => import('../../../ui/overlays/secret-dialog.tsx'));
const TriggerDialog = lazy(() => import('./trigger-dialog.tsx'));

const texts = all.trigger;

/** The open dialog. `edit` without a trigger adds one. */
type OpenDialog =
  | { kind: 'edit'; trigger?: Trigger | undefined }
  | { kind: 'rotate' | 'remove'; trigger: Trigger }
  | { kind: 'secret'; secret: string };

/** What starts runs of an agent besides its schedule and people. */
export default function TriggersTab({ agent }: { agent: Agent }) {
  const query = useQuery(triggersQuery(agent.id));
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const add = (
    <Button kind="primary" disabled={agent.deletedAt !== null} onClick={() => setOpen({ kind: 'edit' })}>
      {texts.add}
    </Button>
  );
  return (
    <div className="flex max-w-6xl flex-col gap-4 px-4 py-5">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <p className="max-w-[72ch] text-muted">{texts.intro}</p>
        {query.data?.length !== 0 && add}
      </div>
      <Loaded query={query}>
        {(triggers) =>
          triggers.length === 0 ? (
            <EmptyState title={texts.none} action={add}>
              {all.noTriggers}
            </EmptyState>
          ) : (
            <Rows label={all.tabs.triggers}>
              {triggers.map((trigger) => (
                <TriggerRow key={trigger.id} trigger={trigger} onOpen={setOpen} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Suspense>{open && <TriggerDialogs agent={agent} open={open} onOpen={setOpen} />}</Suspense>
    </div>
  );
}

/** Returns which events start a run, in words. */
function describe({ source, filter, runsPerHourMax, skipped }: Trigger): string {
  const { severity, detections, tags, entityTypes } = filter;
  const { filter: words } = texts;
  return [
    texts.every(source),
    severity && words.severity(severity),
    detections && words.detections(detections.length),
    tags && words.tags(tags),
    entityTypes && words.entityTypes(entityTypes),
    texts.perHour(runsPerHourMax),
    skipped > 0 && texts.skipped(skipped),
  ]
    .filter(Boolean)
    .join(', ');
}

function TriggerRow({ trigger, onOpen }: { trigger: Trigger; onOpen: (dialog: OpenDialog) => void }) {
  const { id, source, enabled } = trigger;
  const name = nameTrigger(trigger);
  const turn = useChange({
    change: () => changeTrigger(trigger, { enabled: !enabled }),
    refresh: [['agents']],
    failed: texts.failed,
  });
  return (
    <Row
      title={name}
      isDimmed={!enabled}
      badge={
        <>
          <Badge>{all.sources[source]}</Badge>
          {!enabled && <Badge>{texts.isOff}</Badge>}
        </>
      }
      detail={describe(trigger)}
      actions={
        <MenuButton
          label={texts.actions(name)}
          align="end"
          className="flex size-7 items-center justify-center rounded-control border text-muted hover:bg-hover hover:text-ink"
          entries={[
            { kind: 'action', label: texts.edit, onSelect: () => onOpen({ kind: 'edit', trigger }) },
            {
              kind: 'action',
              label: enabled ? texts.turnOff : texts.turnOn,
              onSelect: () => turn.mutate(undefined),
            },
            ...(source === 'webhook'
              ? [{ kind: 'action' as const, label: texts.rotate, onSelect: () => onOpen({ kind: 'rotate', trigger }) }]
              : []),
            {
              kind: 'action',
              label: texts.remove,
              isDanger: true,
              onSelect: () => onOpen({ kind: 'remove', trigger }),
            },
          ]}
        >
          <MoreHorizontal className="size-4" aria-hidden />
        </MenuButton>
      }
    >
      {source === 'webhook' && (
        <div className="mt-2">
          <CodeBlock isWrapped label={texts.address} text={`POST ${location.origin}${basePath}/api/hooks/${id}`} />
        </div>
      )}
    </Row>
  );
}

type DialogsProps = { agent: Agent; open: OpenDialog; onOpen: Dispatch<SetStateAction<OpenDialog | null>> };

function TriggerDialogs({ agent, open, onOpen }: DialogsProps) {
  const client = useQueryClient();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['agents'] });
  const showSecret = ({ secret }: Trigger): void => {
    if (secret !== undefined) onOpen({ kind: 'secret', secret });
  };
  /** Closes the dialog, unless it has led to the one with the secret. */
  const close = (): void => onOpen((current) => (current === open ? null : current));
  if (open.kind === 'secret')
    return (
      <SecretDialog
        title={texts.secretTitle}
        hint={texts.secretHint}
        label={texts.secret}
        secret={open.secret}
        onClose={close}
      />
    );
  if (open.kind === 'edit')
    return (
      <TriggerDialog
        agent={agent}
        trigger={open.trigger}
        onSaved={(trigger) => {
          showSecret(trigger);
          return refresh();
        }}
        onClose={close}
      />
    );
  const { trigger } = open;
  return open.kind === 'rotate' ? (
    <ConfirmDialog
      title={texts.rotateTitle(nameTrigger(trigger))}
      action={texts.rotate}
      onClose={close}
      onConfirm={async () => {
        showSecret(await changeTrigger(trigger, { rotateSecret: true }));
        await refresh();
      }}
    >
      {texts.rotateBody}
    </ConfirmDialog>
  ) : (
    <ConfirmDialog
      title={texts.removeTitle(nameTrigger(trigger))}
      action={texts.remove}
      onClose={close}
      onConfirm={async () => {
        await deleteTrigger(trigger);
        await refresh();
        toasts.add({ title: texts.removed });
      }}
    >
      {texts.removeBody}
    </ConfirmDialog>
  );
}
