import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { ruleSourcesQuery } from '../../../api/rule-sources.ts';
import { useOpenKeys } from '../../../lib/list-keys.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { DetectionLinks } from '../../../shell/section-links.tsx';
import { texts as common } from '../../../texts/common.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { ListAndPanel } from '../../../ui/lists/list-panel.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { AddRuleSource } from './add-rule-source.tsx';
import { EditRuleSource } from './rule-source-form.tsx';
import { RuleSourceActions } from './rule-source-actions.tsx';
import { RuleSourceTable } from './rule-source-table.tsx';
import { RuleSourceView } from './rule-source-view.tsx';

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
            <>
              <div className="flex min-h-11 items-center gap-2 border-b px-4 py-1.5">
                {opened && !isEdited && (
                  <RuleSourceActions
                    key={opened.id}
                    source={opened}
                    onEdit={() => open(opened.id, true)}
                    onDelete={() => open(undefined)}
                  />
                )}
                <IconButton label={common.close} onClick={close} className="ml-auto self-start">
                  <X className="size-4" aria-hidden />
                </IconButton>
              </div>
              <div
                className="min-h-0 grow overflow-y-auto"
                key={opened?.id ?? 'new'}
                data-scroll-restoration-id={openId}
              >
                {opened && isEdited ? (
                  <EditRuleSource source={opened} onSaved={() => open(opened.id)} />
                ) : opened ? (
                  <RuleSourceView source={opened} />
                ) : (
                  addition && <AddRuleSource form={addition} list={data} onForm={open} onAdd={open} />
                )}
              </div>
            </>
          ) : null
        }
      />
    </>
  );
}
