import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { hitQuery, type HitStatus } from '../../api/hits.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/hits.ts';
import { HitView } from './hit-view.tsx';
import { StatusBar } from './status-bar.tsx';
import { statusKeys } from './statuses.tsx';
import { useSetStatus } from './use-set-status.ts';

const HideSimilarDialog = lazy(() => import('../../ui/tuning/hide-similar-dialog.tsx'));
const route = getRouteApi('/shell/hits/$id');

/** One hit as a page of its own. */
export function HitPage() {
  const { id } = route.useParams();
  const { data: hit } = useQuery(hitQuery(id));
  const [pending, setPending] = useState<HitStatus | null>(null);
  const { setStatus, undo, similar, closeSimilar } = useSetStatus();
  useHotkeys({
    u: undo,
    Escape: () => history.back(),
    ...Object.fromEntries(
      statusKeys.map((status, at) => [String(at + 1), () => hit && hit.status !== status && setPending(status)]),
    ),
  });
  return (
    <>
      <PageHeader
        title={texts.one}
        tabTitle={hit?.headline}
        parent={
          <Link to="/hits" className="text-muted hover:text-ink">
            {texts.title}
          </Link>
        }
      >
        {hit && (
          <StatusBar
            subject={`hit ${id}`}
            current={hit.status}
            pending={pending}
            onChoose={setPending}
            onSave={(status, reason) => {
              setPending(null);
              return setStatus([hit], status, { reason });
            }}
          />
        )}
      </PageHeader>
      <Suspense>{similar && <HideSimilarDialog {...similar} onClose={closeSimilar} />}</Suspense>
      <div className="grow overflow-y-auto" key={id}>
        <div className="max-w-5xl">
          <HitView id={id} listed={undefined} />
        </div>
      </div>
    </>
  );
}
