import { RotateCw } from 'lucide-react';
import { ApiProblem } from '../api/problem.ts';
import { texts } from '../texts/common.ts';
import { Button } from './button.tsx';
import { RequestId } from './request-id.tsx';

/** The purpose of a page or list that has nothing to show, and the one next step, which every one of them has. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="flex h-full min-h-48 flex-col items-center justify-center gap-2 p-8 text-center">
      <p className="font-strong">{title}</p>
      {children && <div className="max-w-[44ch] text-muted">{children}</div>}
      <div className="pt-2">{action}</div>
    </div>
  );
}
type EmptyStateProps = { title: string; children?: React.ReactNode; action: React.ReactNode };

/** The failure in the words of the API, with the request ID and a retry. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const requestId = error instanceof ApiProblem ? error.requestId : undefined;
  const scope = error instanceof ApiProblem && error.status === 403;
  return (
    <div role="alert" className="flex h-full min-h-48 flex-col items-center justify-center gap-2 p-8 text-center">
      <p className="font-strong">{scope ? texts.noPermission : texts.loadFailed}</p>
      <p className="max-w-[60ch] text-muted">{error.message}</p>
      {requestId && <RequestId id={requestId} />}
      <Button onClick={onRetry} className="mt-2">
        <RotateCw className="size-3.5" aria-hidden />
        {texts.retry}
      </Button>
    </div>
  );
}

/** A gray bar in the place of text that is loading. It appears after 300 ms, so that fast answers do not flash. */
export function Skeleton({ className }: { className: string }) {
  return (
    <span
      data-loading
      className={`block animate-[appear_1s_300ms_both] rounded-small bg-line-strong/35 ${className}`}
    />
  );
}

/** The heading and first section of a detail view that is loading. */
export function DetailSkeleton() {
  return (
    <div className="flex flex-col gap-3 px-4 py-5">
      <Skeleton className="h-5 w-2/3" />
      <Skeleton className="h-24" />
    </div>
  );
}
