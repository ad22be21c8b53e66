/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counts words, as map and reduce: each rank reads a part of the text, and sends each word to the rank that counts it,
 * which a hash of the word decides. All words for all ranks go by one MPI_Alltoallv.
 *
 *     mpirun -n 4 ./wordcount [file]
 */
#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 24, SHOWN = 5 };

static const char sample[] =
    "the ring goes round and the ranks pass the token round the ring and when the token is back the ring is done "
    "so every rank has seen the token and every token has seen the ranks";

struct word {
    char text[LENGTH];
};

struct count {
    char text[LENGTH];
    int count;
};

static int owner_of(const char *word, int size)
{
    unsigned hash = 5381;
    while (*word)
        hash = hash * 33 + (unsigned char)*word++;
    return (int)(hash % (unsigned)size);
}

/* Reads the whole text on rank 0 and gives it to all. */
static char *read_text(const char *path, int rank)
{
    long length = 0;
    char *text = NULL;
    if (rank == 0) {
        FILE *file = path ? fopen(path, "rb") : NULL;
        if (path && !file) {
            perror(path);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        if (file)
            fseek(file, 0, SEEK_END);
        length = file ? ftell(file) : (long)sizeof sample - 1;
        text = calloc(1, length + 1);
        if (file) {
            rewind(file);
            length = (long)fread(text, 1, length, file);
            fclose(file);
        } else {
            memcpy(text, sample, length);
        }
    }
    MPI_Bcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0)
        text = calloc(1, length + 1);
    if (!text)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

/* Finds the words number rank, rank + size, ... of the text. Returns how many. */
static int map_words(const char *text, int rank, int size, struct word *words)
{
    int found = 0, number = 0;
    while (*text) {
        int length = 0;
        struct word word = {""};
        while (*text && !isalpha((unsigned char)*text))
            text++;
        for (; isalpha((unsigned char)*text); text++)
            if (length < LENGTH - 1)
                word.text[length++] = (char)tolower((unsigned char)*text);
        if (length > 0 && number++ % size == rank)
            words[found++] = word;
    }
    return found;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct word *)a)->text, ((const struct word *)b)->text);
}

static int by_count(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    return x->count != y->count ? y->count - x->count : strcmp(x->text, y->text);
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype word_type, count_type;
    MPI_Type_contiguous(LENGTH, MPI_CHAR, &word_type);
    MPI_Type_commit(&word_type);
    MPI_Type_contiguous(sizeof(struct count), MPI_BYTE, &count_type);
    MPI_Type_commit(&count_type);

    char *text = read_text(argc > 1 ? argv[1] : NULL, rank);
    struct word *words = calloc(strlen(text) / 2 + 1, sizeof *words);
    int found = map_words(text, rank, size, words);

    /* how many words go to each rank, where they lie, and how many come */
    int *to = calloc(size, sizeof *to), *from = calloc(size, sizeof *from);
    int *to_at = calloc(size + 1, sizeof *to_at), *from_at = calloc(size + 1, sizeof *from_at);
    for (int i = 0; i < found; i++)
        to[owner_of(words[i].text, size)]++;
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        to_at[i + 1] = to_at[i] + to[i];
        from_at[i + 1] = from_at[i] + from[i];
    }
    struct word *sorted = calloc(found + 1, sizeof *sorted), *mine = calloc(from_at[size] + 1, sizeof *mine);
    int *used = calloc(size, sizeof *used);
    for (int i = 0; i < found; i++) {
        int owner = owner_of(words[i].text, size);
        sorted[to_at[owner] + used[owner]++] = words[i];
    }
    MPI_Alltoallv(sorted, to, to_at, word_type, mine, from, from_at, word_type, MPI_COMM_WORLD);

    /* reduce: words that are the same lie together */
    int distinct = 0;
    struct count *counts = calloc(from_at[size] + 1, sizeof *counts);
    qsort(mine, from_at[size], sizeof *mine, by_text);
    for (int i = 0; i < from_at[size]; i++) {
        if (i == 0 || by_text(&mine[i], &mine[i - 1]))
            memcpy(counts[distinct++].text, mine[i].text, LENGTH);
        counts[distinct - 1].count++;
    }

    /* the most frequent ones of each rank, and of these the most frequent ones of all */
    struct count best[SHOWN] = {{"", 0}}, *all = calloc((size_t)size * SHOWN, sizeof *all);
    qsort(counts, distinct, sizeof *counts, by_count);
    memcpy(best, counts, sizeof *best * (distinct < SHOWN ? distinct : SHOWN));
    MPI_Gather(best, SHOWN, count_type, all, SHOWN, count_type, 0, MPI_COMM_WORLD);
    int own[2] = {from_at[size], distinct}, sums[2];
    MPI_Reduce(own, sums, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d words, %d different ones\n", sums[0], sums[1]);
        qsort(all, (size_t)size * SHOWN, sizeof *all, by_count);
        for (int i = 0; i < SHOWN && all[i].count > 0; i++)
            printf("%6d %s\n", all[i].count, all[i].text);
    }
    free(text);
    free(words);
    free(to);
    free(from);
    free(to_at);
    free(from_at);
    free(sorted);
    free(used);
    free(mine);
    free(counts);
    free(all);
    MPI_Type_free(&word_type);
    MPI_Type_free(&count_type);
    MPI_Finalize();
    return 0;
}
