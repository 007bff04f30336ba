import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { CircleAlert, CircleCheck, CirclePause, MoreHorizontal } from 'lucide-react';
import {
  connectionCheckQuery,
  connectionsQuery,
  deleteConnection,
  type Connection,
  connectionKindsQuery,
} from '../../../api/connections.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { toWords } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Loaded, Rows, Badge, Row } from '../../../ui/lists/rows.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { SettingsSection } from '../section.tsx';

const ConnectionForm = lazy(() => import('./connection-form.tsx'));
const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

const texts = all.connections;

type Open = { kind: 'add' } | { kind: 'edit' | 'delete'; connection: Connection };

export function ConnectionsSection() {
  const client = useQueryClient();
  const query = useQuery(connectionsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const refresh = () => client.invalidateQueries({ queryKey: connectionsQuery.queryKey });
  const check = (id: string): void => {
    void client.resetQueries({ queryKey: connectionCheckQuery(id).queryKey });
    void client.prefetchQuery(connectionCheckQuery(id)).then(refresh);
  };
  return (
    <SettingsSection
      title={all.sections.connections}
      description={texts.description}
      action={
        <Button kind="primary" onClick={() => setOpen({ kind: 'add' })}>
          {texts.add}
        </Button>
      }
    >
      <Loaded query={query}>
        {(connections) => (
          <>
            <Rows label={all.sections.connections}>
              {connections.map((connection) => (
                <ConnectionRow
                  key={connection.id}
                  connection={connection}
                  onCheck={() => check(connection.id)}
                  onEdit={() => setOpen({ kind: 'edit', connection })}
                  onDelete={() => setOpen({ kind: 'delete', connection })}
                />
              ))}
            </Rows>
            {connections.every(({ isDefault }) => isDefault) && <p className="max-w-[72ch] text-muted">{texts.only}</p>}
          </>
        )}
      </Loaded>
      <Suspense>
        {(open?.kind === 'add' || open?.kind === 'edit') && (
          <ConnectionForm
            {...(open.kind === 'edit' && { connection: open.connection })}
            onClose={close}
            onSaved={({ id }) => {
              close();
              void client.invalidateQueries({ queryKey: ['connections', 'fields', id] });
              void refresh().then(() => check(id));
            }}
          />
        )}
        {open?.kind === 'delete' && (
          <ConfirmDialog
            title={texts.removeTitle(open.connection.name)}
            action={texts.remove}
            onClose={close}
            onConfirm={() => deleteConnection(open.connection.id).then(refresh)}
          >
            {texts.removeBody}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}

type Props = { connection: Connection; onCheck: () => void; onEdit: () => void; onDelete: () => void };

/** A connection, how it is, and the outcome of its last check from here. */
function ConnectionRow({ connection, onCheck, onEdit, onDelete }: Props) {
  const { id, name, kind, isDefault, settings, pause } = connection;
  const check = useQuery({ ...connectionCheckQuery(id), enabled: false });
  const { data: kinds } = useQuery(connectionKindsQuery);
  const label = kinds?.kinds.find((one) => one.kind === kind)?.label ?? toWords(kind);
  const address = settings['url'] ?? settings['host'] ?? settings['workspaceId'];
  return (
    <Row
      title={name}
      badge={isDefault && <Badge>{texts.isDefault}</Badge>}
      detail={[label, address].filter(Boolean).join(' · ')}
      actions={
        !isDefault && (
          <>
            <Button disabled={check.isFetching} onClick={onCheck}>
              {check.isFetching ? texts.checking : texts.check}
            </Button>
            <MenuButton
              label={texts.actions(name)}
              align="end"
              className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
              entries={[
                { kind: 'action', label: texts.edit, onSelect: onEdit },
                { kind: 'action', label: texts.remove, isDanger: true, onSelect: onDelete },
              ]}
            >
              <MoreHorizontal className="size-4" aria-hidden />
            </MenuButton>
          </>
        )
      }
    >
      <div role="status" className="text-12">
        {check.isFetching ? null : check.error ? (
          <Outcome icon={<CircleAlert className="mt-px size-3.5 shrink-0 text-bad" aria-hidden />}>
            <p className="font-strong text-bad">{texts.fails}</p>
            <p className="text-muted">{check.error.message}</p>
            {check.error instanceof ApiProblem && check.error.requestId && (
              <p className="font-mono text-faint select-all">{check.error.requestId}</p>
            )}
          </Outcome>
        ) : check.data ? (
          <Outcome icon={<CircleCheck className="mt-px size-3.5 shrink-0 text-good" aria-hidden />}>
            <p>{texts.works(Math.round(check.data.ms))}</p>
          </Outcome>
        ) : pause ? (
          <Outcome icon={<CirclePause className="mt-px size-3.5 shrink-0 text-medium" aria-hidden />}>
            <p className="font-strong">
              {texts.paused} · <RelativeTime time={pause.since} />
            </p>
            <p className="text-muted">{pause.message}</p>
          </Outcome>
        ) : null}
      </div>
    </Row>
  );
}

function Outcome({ icon, children }: { icon: React.ReactNode; children: React.ReactNode }) {
  return (
    <div className="flex gap-2 pt-1.5">
      {icon}
      <div className="max-w-[72ch] min-w-0 break-words">{children}</div>
    </div>
  );
}
