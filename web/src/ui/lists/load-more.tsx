import { texts } from '../../texts/common.ts';
import { Button } from '../button.tsx';

type Props = {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  className?: string;
};

/** Loads the next page of a list. Renders nothing after the last one. */
export function LoadMore({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
  className = 'self-start',
}: Props) {
  if (!hasNextPage) return null;
  return (
    <Button kind="quiet" className={className} disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {texts.loadMore}
    </Button>
  );
}
