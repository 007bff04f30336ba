import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { connectionCheckQuery, connectionsQuery, deleteConnection, type Connection } from '../../../api/connections.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Loaded, Rows } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { ConnectionRow } from './connection-row.tsx';

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
        {({ connections }) => (
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
