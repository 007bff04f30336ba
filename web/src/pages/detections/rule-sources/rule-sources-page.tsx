import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import {
  ruleSourcesQuery,
  changeRuleSource,
  checkRuleSource,
  deleteRuleSource,
  type RuleSource,
} from '../../../api/rule-sources.ts';
import { useOpenKeys } from '../../../lib/list-keys.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { DetectionLinks } from '../../../shell/section-links.tsx';
import { texts } from '../../../texts/rule-sources.ts';
import { Button } from '../../../ui/button.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { ListAndPanel } from '../../../ui/lists/list-panel.tsx';
import { OpenPanel } from '../../../ui/lists/open-panel.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { AddRuleSource } from './add-rule-source.tsx';
import { EditRuleSource } from './rule-source-form.tsx';
import { RuleSourceTable } from './rule-source-table.tsx';
import { RuleSourceView } from './rule-source-view.tsx';

const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

const route = getRouteApi('/shell/rule-sources');

/** The sets of Sigma rules with their versions, and the open one, or those that can be added, beside them. */
export function RuleSourcesPage() {
  const { source: openId, edit } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(ruleSourcesQuery);
  const sources = data?.ruleSources;
  const index = sources?.findIndex(({ id }) => id === openId) ?? -1;
  const opened = sources?.[index];
  const open = (source: string | undefined, isEdited?: boolean): void =>
    void navigate({
      search: { source, edit: isEdited ? 'yes' : undefined },
      replace: openId !== undefined,
      resetScroll: false,
    });
  const addition = openId === 'new' || openId === 'own' ? openId : undefined;
  const isEdited = edit !== undefined && opened !== undefined;
  const close = (): void => open(isEdited ? openId : undefined);
  useOpenKeys({ rows: sources, index, onOpen: ({ id }) => open(id), onClose: close });
  const add = (
    <Button kind="primary" onClick={() => open('new')}>
      <Plus className="size-3.5" aria-hidden />
      {texts.add}
    </Button>
  );
  return (
    <>
      <PageHeader title={texts.title} links={<DetectionLinks />} actions={sources?.length === 0 ? undefined : add} />
      <ListAndPanel
        list={
          error && !sources ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : !sources ? (
            <TableSkeleton />
          ) : sources.length === 0 ? (
            <EmptyState title={texts.empty} action={add}>
              {texts.emptyBody}
            </EmptyState>
          ) : (
            <RuleSourceTable sources={sources} openId={openId} onOpen={open} />
          )
        }
        panel={
          data && (addition || opened) ? (
            <OpenPanel
              id={opened?.id ?? 'new'}
              actions={
                opened &&
                !isEdited && (
                  <RuleSourceActions
                    key={opened.id}
                    source={opened}
                    onEdit={() => open(opened.id, true)}
                    onDelete={() => open(undefined)}
                  />
                )
              }
              onClose={close}
            >
              {opened && isEdited ? (
                <EditRuleSource source={opened} onSaved={() => open(opened.id)} />
              ) : opened ? (
                <RuleSourceView source={opened} />
              ) : (
                addition && <AddRuleSource form={addition} list={data} onForm={open} onAdd={open} />
              )}
            </OpenPanel>
          ) : null
        }
      />
    </>
  );
}

type Props = { source: RuleSource; onEdit: () => void; onDelete: () => void };

function RuleSourceActions({ source, onEdit, onDelete }: Props) {
  const client = useQueryClient();
  const [isSure, setIsSure] = useState(false);
  const { id, name, enabled, rules } = source;
  const refresh = [['rule-sources']];
  const check = useChange({
    change: () => checkRuleSource(id),
    refresh,
    done: ({ failure, available }) => {
      if (failure !== null) return { title: texts.checkFailed, description: failure };
      return available === source.available ? texts.checkedCurrent : texts.checkedNew;
    },
    failed: texts.checkFailed,
  });
  const enable = useChange({
    change: () => changeRuleSource(source, { enabled: !enabled }),
    refresh,
    failed: texts.notChanged,
  });
  const remove = async (): Promise<void> => {
    await deleteRuleSource(source);
    toasts.add({ title: texts.removed, description: name });
    onDelete();
    await client.invalidateQueries({ queryKey: ['rule-sources'] });
  };
  return (
    <div className="flex flex-wrap gap-1.5">
      <Button disabled={check.isPending} onClick={() => check.mutate(undefined)}>
        {check.isPending ? texts.checking : texts.check}
      </Button>
      <Button disabled={enable.isPending} onClick={() => enable.mutate(undefined)}>
        {enabled ? texts.disable : texts.enable}
      </Button>
      <Button onClick={onEdit}>{texts.edit}</Button>
      <Button kind="quiet" onClick={() => setIsSure(true)}>
        {texts.remove}
      </Button>
      <Suspense>
        {isSure && (
          <ConfirmDialog
            title={texts.removeTitle(name)}
            action={texts.remove}
            onConfirm={remove}
            onClose={() => setIsSure(false)}
          >
            {texts.removeBody(rules)}
          </ConfirmDialog>
        )}
      </Suspense>
    </div>
  );
}
