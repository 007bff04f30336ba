import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useSyncExternalStore } from 'react';
import { conflicts } from '../../api/versions.ts';

const ConflictDialog = lazy(() => import('./conflict-dialog.tsx'));

/** Where questions about changes of others appear. Rendered once. */
export function Conflicts() {
  const client = useQueryClient();
  const conflict = useSyncExternalStore(conflicts.subscribe, conflicts.first);
  if (!conflict) return null;
  const answer = (isAgain: boolean): void => {
    conflict.answer(isAgain);
    // What others changed is not on the screen yet.
    if (!isAgain) void client.invalidateQueries();
  };
  return (
    <Suspense>
      <ConflictDialog changes={conflict.changes} onAnswer={answer} />
    </Suspense>
  );
}
